// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A packet is not copied by copying its pointer.

use dpdk_rs::Packet;

fn hole_08_packet_cloned(packet: Packet) -> [Packet; 2] {
    [packet.clone(), packet]
}

fn main() {}
