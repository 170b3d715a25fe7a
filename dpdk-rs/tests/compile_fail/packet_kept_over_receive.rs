// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The packets of a burst that is received into do not stay where they were.

use dpdk_rs::{Burst, RxQueue};

fn packet_kept_over_receive(rx: &mut RxQueue, burst: &mut Burst) -> usize {
    let packet = &burst[0];
    rx.rx(burst);
    packet.len()
}

fn main() {}
