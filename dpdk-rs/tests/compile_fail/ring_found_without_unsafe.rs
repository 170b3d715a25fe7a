// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Whoever takes a ring of another process promises what its elements are.

use dpdk_rs::{Ring, secondary::Secondary};

fn ring_found_without_unsafe(primary: &Secondary) -> Ring<u64> {
    primary.ring("ring").unwrap()
}

fn main() {}
