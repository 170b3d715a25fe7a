// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port takes its RX queues back when it is stopped.

use dpdk_rs::{Burst, Port, RxQueue, TxQueue, port::Started};

fn hole_06_receive_after_stop(port: Port<Started>, mut rx: Vec<RxQueue>, tx: Vec<TxQueue>, burst: &mut Burst) {
    let _port = port.stop(rx, tx).unwrap();
    rx[0].rx(burst);
}

fn main() {}
