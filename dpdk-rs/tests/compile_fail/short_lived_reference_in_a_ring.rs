// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is put into a ring lives as long as the ring's type says: others take it out.

use dpdk_rs::Ring;

fn put<'text>(ring: &Ring<&'text u64>, number: &'text u64) {
    ring.enqueue(number).unwrap();
}

fn short_lived_reference_in_a_ring(ring: &Ring<&'static u64>) {
    let number = 7;
    put(ring, &number);
}

fn main() {}
