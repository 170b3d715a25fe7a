// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Who sends on a queue has it alone.

use dpdk_rs::{Burst, TxQueue};

fn send_through_shared_reference(tx: &TxQueue, burst: &mut Burst) -> usize {
    tx.tx(burst)
}

fn main() {}
