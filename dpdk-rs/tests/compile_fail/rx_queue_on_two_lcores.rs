// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A queue is polled on one lcore at a time.

use dpdk_rs::{Burst, Eal, RxQueue, lcore};

fn rx_queue_on_two_lcores(eal: &Eal, mut rx: RxQueue) {
    lcore::scope(eal, |scope| {
        for worker in eal.worker_lcores() {
            let _ = scope.launch(worker.id(), || rx.rx(&mut Burst::<(), 32>::new()));
        }
    })
    .unwrap();
}

fn main() {}
