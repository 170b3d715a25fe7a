// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Segments that are looked at do not become more.

use dpdk_rs::Packet;

fn segments_kept_over_chain(packet: &mut Packet, tail: Packet) -> usize {
    let segments = packet.segments();
    packet.chain(tail).unwrap();
    segments.count()
}

fn main() {}
