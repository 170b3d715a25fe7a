// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Compiles the C kernels with gcc and with clang, where they and DPDK's headers are available. What is missing the
//! table of libraries tells: the crate builds without.
#![allow(clippy::print_stdout, reason = "a build script tells cargo on stdout")]

#[cfg(any(feature = "c-gcc", feature = "c-clang"))]
mod kernels;

fn main() {
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rustc-check-cfg=cfg(fuzzing)");
    println!("cargo::rustc-check-cfg=cfg(gcc_missing)");
    println!("cargo::rustc-check-cfg=cfg(clang_missing)");
    #[cfg(feature = "c-gcc")]
    kernels::provide("gcc");
    #[cfg(feature = "c-clang")]
    kernels::provide("clang");
}
