// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The handle of a running queue ends when the queue is stopped.

use dpdk_rs::{Burst, TxQueue};

fn queue_after_its_stop(mut tx: TxQueue, burst: &mut Burst) {
    let _stopped = tx.stop().unwrap();
    tx.tx(burst);
}

fn main() {}
