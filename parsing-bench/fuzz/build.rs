// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Links the run-time library of the sanitizers that C is instrumented with for a fuzzer.
#![allow(clippy::print_stdout, reason = "a build script tells cargo on stdout")]

use std::env;

fn main() {
    if env::var_os("CARGO_FEATURE_LIBFUZZER").is_some() {
        println!("cargo::rustc-link-arg-bins=-fsanitize=address,undefined");
    }
}
