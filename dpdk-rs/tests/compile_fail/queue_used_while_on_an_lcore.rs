// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A queue that an lcore polls is not polled here.

use dpdk_rs::{Burst, Eal, RxQueue, lcore};

fn queue_used_while_on_an_lcore(eal: &Eal, mut rx: RxQueue, burst: &mut Burst) {
    let worker = eal.worker_lcores()[0].id();
    lcore::scope(eal, |scope| {
        let _ = scope.launch(worker, || rx.rx(&mut Burst::<(), 32>::new()));
        rx.rx(burst);
    })
    .unwrap();
}

fn main() {}
