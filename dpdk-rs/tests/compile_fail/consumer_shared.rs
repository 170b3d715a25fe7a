// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A ring for one consumer is read by one thread at a time.

use dpdk_rs::ring::Consumer;

fn consumer_shared(consumer: &Consumer<u64>) -> Option<u64> {
    consumer.dequeue()
}

fn main() {}
