// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a closure returns may cross threads.

use dpdk_rs::{Eal, lcore};
use std::rc::Rc;

fn result_not_send(eal: &Eal) {
    let worker = eal.worker_lcores()[0].id();
    lcore::scope(eal, |scope| scope.launch(worker, || Rc::new(1)).map(drop)).unwrap().unwrap();
}

fn main() {}
