// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The segments of a packet end when it is made one.

use dpdk_rs::Packet;

fn segments_kept_over_linearize(packet: &mut Packet) -> usize {
    let segments = packet.segments();
    packet.linearize().unwrap();
    segments.count()
}

fn main() {}
