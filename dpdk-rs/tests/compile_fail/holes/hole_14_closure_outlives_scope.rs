// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A closure on an lcore borrows only what outlives the scope.

use dpdk_rs::{Eal, lcore};

fn hole_14_closure_outlives_scope(eal: &Eal) {
    lcore::scope(eal, |scope| {
        for worker in eal.worker_lcores() {
            let name = format!("lcore {}", worker.id());
            let _ = scope.launch(worker.id(), || name.len());
        }
    })
    .unwrap();
}

fn main() {}
