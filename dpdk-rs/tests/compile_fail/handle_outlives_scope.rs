// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A handle of a closure does not outlive the scope.

use dpdk_rs::{Eal, lcore};

fn handle_outlives_scope(eal: &Eal) -> usize {
    let worker = eal.worker_lcores()[0].id();
    let handle = lcore::scope(eal, |scope| scope.launch(worker, || 1).unwrap()).unwrap();
    handle.join().unwrap()
}

fn main() {}
