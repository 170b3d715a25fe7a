// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A reference to a TX queue does not leave its thread.

use dpdk_rs::TxQueue;

fn tx_queue_shared(tx: &TxQueue) {
    std::thread::scope(|scope| {
        scope.spawn(|| tx.rejected());
    });
}

fn main() {}
