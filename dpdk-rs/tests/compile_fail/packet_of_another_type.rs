// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A packet has the private data of its pool.

use dpdk_rs::{Mempool, Packet};

fn packet_of_another_type(pool: &Mempool<u32>) -> Packet<u64> {
    pool.alloc().unwrap()
}

fn main() {}
