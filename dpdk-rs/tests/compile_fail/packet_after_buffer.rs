// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A packet that waits for being sent is not the caller's any more.

use dpdk_rs::{Packet, TxBuffer};

fn packet_after_buffer(buffer: &mut TxBuffer, packet: Packet) -> usize {
    buffer.push(packet);
    packet.len()
}

fn main() {}
