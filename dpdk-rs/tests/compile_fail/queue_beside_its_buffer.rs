// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A queue with a buffer before it is used through the buffer.

use dpdk_rs::{Burst, Eal, TxBuffer, TxQueue};
use std::time::Duration;

fn queue_beside_its_buffer(eal: &Eal, mut tx: TxQueue, burst: &mut Burst) {
    let _buffer = TxBuffer::<(), 32>::new(tx, 8, Duration::from_micros(100), eal.clock());
    tx.tx(burst);
}

fn main() {}
