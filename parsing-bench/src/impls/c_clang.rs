// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! C with DPDK's headers, compiled by clang: the kernels are in `parsing-bench/c`, their declarations in `ffi.rs`.

pub use super::ffi::CClang;
