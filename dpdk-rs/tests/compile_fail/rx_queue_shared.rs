// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A reference to an RX queue does not leave its thread.

use dpdk_rs::{Eal, RxQueue, lcore};

fn rx_queue_shared(eal: &Eal, rx: &RxQueue) {
    lcore::scope(eal, |scope| {
        for worker in eal.worker_lcores() {
            let _ = scope.launch(worker.id(), || rx.foreign());
        }
    })
    .unwrap();
}

fn main() {}
