// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Segments that are looked at do not become shorter.

use dpdk_rs::Packet;

fn segments_kept_over_trim(packet: &mut Packet) -> usize {
    let segments = packet.segments();
    packet.trim(4).unwrap();
    segments.count()
}

fn main() {}
