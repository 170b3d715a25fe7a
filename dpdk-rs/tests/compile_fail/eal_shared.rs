// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Other threads do not use the EAL, not even through a reference.

use dpdk_rs::Eal;

fn eal_shared(eal: &Eal) {
    std::thread::scope(|scope| {
        scope.spawn(|| eal.lcores().len());
    });
}

fn main() {}
