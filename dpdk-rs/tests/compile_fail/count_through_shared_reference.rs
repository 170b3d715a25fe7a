// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Nobody receives from a queue while it is asked how full it is.

use dpdk_rs::RxQueue;

fn count_through_shared_reference(rx: &RxQueue) -> u32 {
    rx.used_descriptors().unwrap()
}

fn main() {}
