// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A buffer that a packet is made of is dropped at any time: it owns its bytes.

use dpdk_rs::{Mempool, Packet};

fn attached_buffer_borrows(pool: &Mempool) -> Packet {
    let mut bytes = [0; 60];
    Packet::attach(pool, &mut bytes[..]).map_err(|(error, _)| error).unwrap()
}

fn main() {}
