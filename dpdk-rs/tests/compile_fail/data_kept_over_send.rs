// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Data is not seen any more once its packet may be sent.

use dpdk_rs::{Burst, TxQueue};

fn data_kept_over_send(tx: &mut TxQueue, mut burst: Burst) -> u8 {
    let data = burst[0].data();
    tx.tx(&mut burst);
    data[0]
}

fn main() {}
