// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A packet belongs to the reorder buffer that it was put in.

use dpdk_rs::{Packet, reorder::Reorder};

fn packet_after_insert(reorder: &mut Reorder, packet: Packet) -> usize {
    let _result = reorder.insert(packet, 1);
    packet.len()
}

fn main() {}
