// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a device relies on, since it was compared with the frame, cannot be changed any more.

use dpdk_rs::{Packet, TxQueue, TxRequest};

fn packet_after_prepare(tx: &mut TxQueue, mut packet: Packet) {
    let mut burst = tx.prepare::<_, 32>();
    burst.push(packet, &TxRequest::ipv4(14, 20).ip_checksum()).unwrap();
    packet.trim(20).unwrap();
    burst.send();
}

fn main() {}
