// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! See [`l2fwd_rs_fuzz::forwarder_frames`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| l2fwd_rs_fuzz::forwarder_frames(data));
