// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Private data does not outlive its packet.

use dpdk_rs::Packet;

fn private_data_outlives_packet(packet: Packet<u64>) -> u64 {
    let private = packet.private();
    drop(packet);
    *private
}

fn main() {}
