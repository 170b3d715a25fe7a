// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a producer puts in lives as long as its consumer's type says.

use dpdk_rs::ring::Producer;

fn put<'number>(mut producer: Producer<&'number u64>, number: &'number u64) {
    producer.enqueue(number).unwrap();
}

fn short_lived_reference_of_a_producer(producer: Producer<&'static u64>) {
    let number = 7;
    put(producer, &number);
}

fn main() {}
