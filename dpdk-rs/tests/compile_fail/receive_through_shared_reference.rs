// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Who polls a queue has it alone.

use dpdk_rs::{Burst, RxQueue};

fn receive_through_shared_reference(rx: &RxQueue, burst: &mut Burst) -> usize {
    rx.rx(burst)
}

fn main() {}
