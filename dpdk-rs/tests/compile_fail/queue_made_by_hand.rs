// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Only a port makes queues.

use dpdk_rs::TxQueue;

fn make() -> TxQueue {
    TxQueue { port: 0, queue: 0 }
}

fn main() {}
