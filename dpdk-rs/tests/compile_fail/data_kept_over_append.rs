// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Data that is looked at does not become longer.

use dpdk_rs::Packet;

fn data_kept_over_append(packet: &mut Packet) -> usize {
    let data = packet.data();
    packet.append(4).unwrap().fill(0);
    data.len()
}

fn main() {}
