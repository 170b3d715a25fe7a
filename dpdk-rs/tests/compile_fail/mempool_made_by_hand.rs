// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A pool comes from its builder, which asks for an EAL.

use dpdk_rs::Mempool;

fn mempool_made_by_hand() -> Mempool {
    Mempool::default()
}

fn main() {}
