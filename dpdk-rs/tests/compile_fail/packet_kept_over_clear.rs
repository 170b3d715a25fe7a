// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A packet is not seen any more once its burst has been freed.

use dpdk_rs::Burst;

fn packet_kept_over_clear(mut burst: Burst) -> usize {
    let packet = &burst[0];
    burst.clear();
    packet.len()
}

fn main() {}
