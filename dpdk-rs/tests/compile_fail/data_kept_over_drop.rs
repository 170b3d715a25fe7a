// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Data is not seen any more once its packet is dropped.

use dpdk_rs::Packet;

fn data_kept_over_drop(packet: Packet) -> u8 {
    let data = packet.data();
    drop(packet);
    data[0]
}

fn main() {}
