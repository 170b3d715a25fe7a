// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A ring for one producer has one.

use dpdk_rs::ring::Producer;

fn producer_cloned(producer: Producer<u64>) -> [Producer<u64>; 2] {
    [producer.clone(), producer]
}

fn main() {}
