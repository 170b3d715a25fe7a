// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The handle of a started port ends when it is stopped.

use dpdk_rs::{Port, RxQueue, TxQueue, port::Started};

fn port_after_stop(port: Port<Started>, rx: Vec<RxQueue>, tx: Vec<TxQueue>) -> u64 {
    let _stopped = port.stop(rx, tx);
    port.stats().unwrap().ipackets
}

fn main() {}
