// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A buffer that a packet is made of belongs to the packet.

use dpdk_rs::{Mempool, Packet};

fn attached_buffer_kept(pool: &Mempool, buffer: Vec<u8>) -> usize {
    let packet = Packet::attach(pool, buffer).map_err(|(error, _)| error).unwrap();
    packet.len() + buffer.len()
}

fn main() {}
