// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Data that is looked at does not become shorter.

use dpdk_rs::Packet;

fn data_kept_over_adj(packet: &mut Packet) -> u8 {
    let data = packet.data();
    packet.adj(14).unwrap();
    data[0]
}

fn main() {}
