// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! See [`testbed_generator_fuzz::generator_arguments`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| testbed_generator_fuzz::generator_arguments(data));
