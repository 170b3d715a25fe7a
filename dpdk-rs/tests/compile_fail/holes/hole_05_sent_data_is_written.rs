// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A frame that was handed over to be sent is not written to any more.

use dpdk_rs::{Burst, TxQueue};

fn hole_05_sent_data_is_written(tx: &mut TxQueue, mut burst: Burst) {
    let data = burst[0].data_mut().unwrap();
    tx.tx(&mut burst);
    data.fill(0);
}

fn main() {}
