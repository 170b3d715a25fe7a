// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Private data is plain bytes.

use dpdk_rs::{Eal, Mempool};

fn make(eal: &Eal) -> Mempool<String> {
    Mempool::builder("pool").build(eal).unwrap()
}

fn main() {}
