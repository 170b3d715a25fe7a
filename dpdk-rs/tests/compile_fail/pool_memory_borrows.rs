// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Memory that a pool lies in is dropped after the last packet: it owns its bytes.

use dpdk_rs::{Eal, Mempool};

fn pool_memory_borrows(eal: &Eal) -> Mempool {
    let mut bytes = [0; 8192];
    Mempool::builder("pool").size(3).build_in(eal, &mut bytes[..]).map_err(|(error, _)| error).unwrap()
}

fn main() {}
