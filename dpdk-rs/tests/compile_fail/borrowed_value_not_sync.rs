// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What closures on several lcores borrow may be used by several threads.

use dpdk_rs::{Eal, lcore};
use std::cell::Cell;

fn borrowed_value_not_sync(eal: &Eal) {
    let count = Cell::new(0);
    lcore::scope(eal, |scope| {
        for worker in eal.worker_lcores() {
            let _ = scope.launch(worker.id(), || count.set(count.get() + 1));
        }
    })
    .unwrap();
}

fn main() {}
