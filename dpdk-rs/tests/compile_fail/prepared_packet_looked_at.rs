// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Packets of a prepared burst cannot be looked at or changed: the device relies on what was found.

use dpdk_rs::{Packet, TxQueue, TxRequest};

fn prepared_packet_looked_at(tx: &mut TxQueue, packet: Packet) {
    let mut burst = tx.prepare::<_, 32>();
    burst.push(packet, &TxRequest::new()).unwrap();
    burst[0].trim(20).unwrap();
    burst.send();
}

fn main() {}
