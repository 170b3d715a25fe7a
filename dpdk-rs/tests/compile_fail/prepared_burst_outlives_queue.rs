// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A prepared burst borrows its queue.

use dpdk_rs::{Packet, TxQueue, TxRequest};

fn prepared_burst_outlives_queue(mut tx: TxQueue, packet: Packet) {
    let mut burst = tx.prepare::<_, 32>();
    burst.push(packet, &TxRequest::new()).unwrap();
    drop(tx);
    burst.send();
}

fn main() {}
