// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Nothing of a scope is left when it has ended.

use dpdk_rs::{Eal, lcore};

fn launch(eal: &Eal) -> usize {
    let worker = eal.worker_lcores()[0];
    let handle = lcore::scope(eal, |scope| scope.launch(worker.id(), || 1).unwrap()).unwrap();
    handle.join().unwrap()
}

fn main() {}
