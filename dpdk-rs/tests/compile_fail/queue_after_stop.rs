// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port takes its queues back when it is stopped.

use dpdk_rs::{Burst, Port, RxQueue, TxQueue, port::Started};

fn stop(port: Port<Started>, mut rx: Vec<RxQueue>, tx: Vec<TxQueue>) {
    let _port = port.stop(rx, tx).unwrap();
    rx[0].rx(&mut Burst::<(), 32>::new());
}

fn main() {}
