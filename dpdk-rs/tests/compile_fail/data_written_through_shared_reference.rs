// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Who may only look at a packet does not write to it.

use dpdk_rs::Packet;

fn data_written_through_shared_reference(packet: &Packet) {
    packet.data_mut().unwrap().fill(0);
}

fn main() {}
