// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Free text can load code and contain addresses: whoever passes it on makes a promise.

use dpdk_rs::{Eal, EalOptions};

fn options_of_text(words: Vec<String>) -> Eal {
    Eal::init(EalOptions::new().raw(words)).unwrap().0
}

fn main() {}
