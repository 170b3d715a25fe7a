// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Lcores are those that the EAL has.

use dpdk_rs::lcore::Lcore;

fn lcore_made_by_hand(mut worker: Lcore) -> Lcore {
    worker.main = true;
    worker
}

fn main() {}
