// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A ring's elements are as long as the words that it copies.

use dpdk_rs::{Eal, EalOptions, Ring};

fn ring_element_too_small(eal: &Eal) -> Ring<[u8; 4]> {
    Ring::builder("ring").build(eal).unwrap()
}

fn main() {
    let (eal, _args) = Eal::init(EalOptions::new()).unwrap();
    drop(ring_element_too_small(&eal));
}
