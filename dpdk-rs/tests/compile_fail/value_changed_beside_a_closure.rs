// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a closure changes is its own until the scope has ended.

use dpdk_rs::{Eal, lcore};

fn value_changed_beside_a_closure(eal: &Eal) {
    let worker = eal.worker_lcores()[0].id();
    let mut count = 0;
    lcore::scope(eal, |scope| {
        let _ = scope.launch(worker, || count += 1);
        count = 0;
    })
    .unwrap();
}

fn main() {}
