// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A buffer holds packets with its own private data.

use dpdk_rs::{Packet, TxBuffer};

fn buffer_of_another_type(buffer: &mut TxBuffer<u32>, packet: Packet<u64>) {
    buffer.push(packet);
}

fn main() {}
