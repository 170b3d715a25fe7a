// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! There is one handle of a TX queue.

use dpdk_rs::TxQueue;

fn hole_11_tx_queue_cloned(tx: TxQueue) -> [TxQueue; 2] {
    [tx.clone(), tx]
}

fn main() {}
