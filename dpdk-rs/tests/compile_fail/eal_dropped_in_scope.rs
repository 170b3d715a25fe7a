// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The EAL outlives every scope.

use dpdk_rs::{Eal, lcore};

fn eal_dropped_in_scope(eal: Eal) {
    lcore::scope(&eal, |_scope| drop(eal)).unwrap();
}

fn main() {}
