// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Memory that a pool lies in belongs to the pool.

use dpdk_rs::{Eal, Mempool};

fn pool_memory_kept(eal: &Eal, memory: Vec<u8>) -> u8 {
    let pool = Mempool::<()>::builder("pool").size(3).build_in(eal, memory).map_err(|(error, _)| error).unwrap();
    drop(pool);
    memory[0]
}

fn main() {}
