// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port takes back the queues that it gave.

use dpdk_rs::{Port, RxQueue, TxQueue, port::Started};

fn stop_with_queues_of_another_type(port: Port<Started<u32>>, rx: Vec<RxQueue<u64>>, tx: Vec<TxQueue>) {
    let _port = port.stop(rx, tx);
}

fn main() {}
