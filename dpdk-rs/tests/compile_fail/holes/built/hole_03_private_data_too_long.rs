// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Private data fits into what an mbuf can reserve for it.

use dpdk_rs::{Eal, EalOptions, Mempool};

fn main() {
    let (eal, _args) = Eal::init(EalOptions::from_command_line()).unwrap();
    let _pool = Mempool::<[u64; 8192]>::builder("pool").build(&eal).unwrap();
}
