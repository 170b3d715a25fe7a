// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A packet that was chained behind another belongs to it.

use dpdk_rs::Packet;

fn packet_after_chain(head: &mut Packet, tail: Packet) -> usize {
    head.chain(tail).unwrap();
    tail.len()
}

fn main() {}
