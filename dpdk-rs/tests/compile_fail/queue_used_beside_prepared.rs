// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A prepared burst is for one queue, which it has to itself.

use dpdk_rs::{Burst, Packet, TxQueue, TxRequest};

fn queue_used_beside_prepared(tx: &mut TxQueue, packet: Packet, burst: &mut Burst) {
    let mut prepared = tx.prepare::<_, 32>();
    prepared.push(packet, &TxRequest::new()).unwrap();
    tx.tx(burst);
    prepared.send();
}

fn main() {}
