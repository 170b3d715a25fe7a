// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A packet has one owner: a burst, once it is in it.

use dpdk_rs::{Burst, Packet};

fn packet_after_push(mut burst: Burst, packet: Packet) -> usize {
    burst.push(packet).unwrap();
    packet.len()
}

fn main() {}
