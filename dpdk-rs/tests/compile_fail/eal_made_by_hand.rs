// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! An EAL is there only after it was initialised.

use dpdk_rs::Eal;

fn eal_made_by_hand() -> Eal {
    Eal::default()
}

fn main() {}
