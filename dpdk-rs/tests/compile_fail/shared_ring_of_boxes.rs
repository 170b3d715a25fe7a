// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What processes share has no addresses in the memory of one of them.

use dpdk_rs::{Eal, Ring};

fn shared_ring_of_boxes(eal: &Eal) -> Ring<Box<u64>> {
    Ring::builder("ring").shared().build(eal).unwrap()
}

fn main() {}
