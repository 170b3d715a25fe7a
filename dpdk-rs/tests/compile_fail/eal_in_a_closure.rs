// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The EAL does not go to a worker lcore.

use dpdk_rs::{Eal, lcore};

fn eal_in_a_closure(eal: &Eal) {
    let worker = eal.worker_lcores()[0].id();
    lcore::scope(eal, |scope| scope.launch(worker, || eal.ports().len()).map(drop)).unwrap().unwrap();
}

fn main() {}
