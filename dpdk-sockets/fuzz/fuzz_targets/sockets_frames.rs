// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! See [`dpdk_sockets_fuzz::sockets_frames`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dpdk_sockets_fuzz::sockets_frames(data));
