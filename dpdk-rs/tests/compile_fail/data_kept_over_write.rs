// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Data does not change while it is looked at.

use dpdk_rs::Packet;

fn data_kept_over_write(packet: &mut Packet) -> u8 {
    let data = packet.data();
    packet.data_mut().unwrap().fill(0);
    data[0]
}

fn main() {}
