// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a closure takes along may cross threads.

use dpdk_rs::{Eal, lcore};
use std::rc::Rc;

fn capture_not_send(eal: &Eal, count: Rc<u64>) {
    let worker = eal.worker_lcores()[0].id();
    lcore::scope(eal, |scope| scope.launch(worker, move || *count).map(drop)).unwrap().unwrap();
}

fn main() {}
