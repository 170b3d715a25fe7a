// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A packet that was returned to its pool is gone.

use dpdk_rs::Packet;

fn packet_after_drop(packet: Packet) -> usize {
    drop(packet);
    packet.len()
}

fn main() {}
