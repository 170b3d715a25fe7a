// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A queue that was given back is gone until its port is started again.

use dpdk_rs::StoppedRxQueue;

fn queue_started_after_give_back(stopped: StoppedRxQueue) {
    stopped.give_back();
    let _running = stopped.start();
}

fn main() {}
