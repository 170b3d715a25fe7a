// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Nothing is launched after the scope.

use dpdk_rs::{Eal, lcore};

fn scope_outlives_itself(eal: &Eal) {
    let worker = eal.worker_lcores()[0].id();
    let mut kept = None;
    lcore::scope(eal, |scope| kept = Some(scope)).unwrap();
    let _ = kept.unwrap().launch(worker, || 1);
}

fn main() {}
