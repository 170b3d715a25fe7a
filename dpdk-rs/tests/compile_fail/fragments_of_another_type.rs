// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Fragments have the private data of the pool that their headers are from.

use dpdk_rs::{Burst, Packet, fragment::Fragmenter};

fn fragments_of_another_type(fragmenter: &Fragmenter<u64>, packet: &mut Packet) -> usize {
    let mut fragments = Burst::<u32, 32>::new();
    fragmenter.ipv4(packet, 14, 576, &mut fragments).unwrap()
}

fn main() {}
