// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! There is one EAL.

use dpdk_rs::Eal;

fn eal_cloned(eal: Eal) -> [Eal; 2] {
    [eal.clone(), eal]
}

fn main() {}
