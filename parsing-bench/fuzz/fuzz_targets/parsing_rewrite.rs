// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! See [`parsing_bench_fuzz::parsing_rewrite`].
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| parsing_bench_fuzz::parsing_rewrite(data));
