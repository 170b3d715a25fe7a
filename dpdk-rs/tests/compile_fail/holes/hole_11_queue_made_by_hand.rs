// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Only a port makes queues.

use dpdk_rs::TxQueue;

fn hole_11_queue_made_by_hand() -> TxQueue {
    TxQueue::new(None.unwrap(), 0)
}

fn main() {}
