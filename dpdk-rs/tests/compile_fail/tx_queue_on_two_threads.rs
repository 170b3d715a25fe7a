// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A queue is used on one thread at a time.

use dpdk_rs::{Burst, TxQueue};

fn tx_queue_on_two_threads(mut tx: TxQueue, mut left: Burst, mut right: Burst) {
    std::thread::scope(|scope| {
        scope.spawn(|| tx.tx(&mut left));
        scope.spawn(|| tx.tx(&mut right));
    });
}

fn main() {}
