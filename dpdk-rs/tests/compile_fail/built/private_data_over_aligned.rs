// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Private data is aligned to what DPDK aligns the private area to.

use dpdk_rs::{Eal, EalOptions, Mempool};

fn main() {
    let (eal, _args) = Eal::init(EalOptions::from_command_line()).unwrap();
    let _pool = Mempool::<u128>::builder("pool").build(&eal).unwrap();
}
