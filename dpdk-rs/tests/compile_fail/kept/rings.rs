// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The promises about rings, kept.
#![allow(dead_code)]

use dpdk_rs::{
    Eal, Ring,
    ring::{Consumer, Producer},
};
use std::sync::Arc;

fn main() {}

fn producer_cloned(ring: Ring<u64>) -> [Ring<u64>; 2] {
    [ring.clone(), ring]
}

fn consumer_shared(consumer: &mut Consumer<u64>) -> Option<u64> {
    consumer.dequeue()
}

fn ring_of_not_send(_ring: Ring<Arc<u64>>) {}

fn short_lived_reference_in_a_ring<'number>(ring: &Ring<&'number u64>, number: &'number u64) {
    ring.enqueue(number).unwrap();
}

fn short_lived_reference_of_a_producer<'number>(mut producer: Producer<&'number u64>, number: &'number u64) {
    producer.enqueue(number).unwrap();
}

fn ring_element_too_small(eal: &Eal) -> Ring<[u32; 1]> {
    Ring::builder("ring").build(eal).unwrap()
}

fn ends_on_two_threads(mut producer: Producer<u64>, mut consumer: Consumer<u64>) {
    std::thread::spawn(move || producer.enqueue(1));
    std::thread::spawn(move || consumer.dequeue());
}
