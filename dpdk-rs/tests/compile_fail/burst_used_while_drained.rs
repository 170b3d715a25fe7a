// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A burst that is being emptied is not used otherwise.

use dpdk_rs::{Burst, TxQueue};

fn burst_used_while_drained(tx: &mut TxQueue, mut burst: Burst) {
    for packet in burst.drain() {
        drop(packet);
        tx.tx(&mut burst);
    }
}

fn main() {}
