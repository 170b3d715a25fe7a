// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port takes its TX queues back when it is stopped.

use dpdk_rs::{Burst, Port, RxQueue, TxQueue, port::Started};

fn hole_06_send_after_stop(port: Port<Started>, rx: Vec<RxQueue>, mut tx: Vec<TxQueue>, burst: &mut Burst) {
    let _port = port.stop(rx, tx).unwrap();
    tx[0].tx(burst);
}

fn main() {}
