// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A pool fills bursts with packets of its own private data.

use dpdk_rs::{Burst, Mempool};

fn bulk_of_another_type(pool: &Mempool<u32>, burst: &mut Burst<u64>) {
    pool.alloc_bulk(burst);
}

fn main() {}
