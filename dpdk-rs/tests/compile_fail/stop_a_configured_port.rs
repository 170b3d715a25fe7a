// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Only a started port is stopped.

use dpdk_rs::{Port, RxQueue, TxQueue, port::Configured};

fn stop_a_configured_port(port: Port<Configured>, rx: Vec<RxQueue>, tx: Vec<TxQueue>) {
    let _port = port.stop(rx, tx);
}

fn main() {}
