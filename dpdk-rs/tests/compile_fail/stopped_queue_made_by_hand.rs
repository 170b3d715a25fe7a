// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A stopped queue is made by stopping it.

use dpdk_rs::{StoppedTxQueue, TxQueue};

fn stopped_queue_made_by_hand(tx: TxQueue) -> StoppedTxQueue {
    StoppedTxQueue(tx)
}

fn main() {}
