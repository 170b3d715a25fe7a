// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A secondary process finds what the primary one has made, and makes nothing.

use dpdk_rs::{Mempool, secondary::Secondary};

fn pool_made_by_secondary(primary: &Secondary) -> Mempool {
    Mempool::builder("pool").build(primary).unwrap()
}

fn main() {}
