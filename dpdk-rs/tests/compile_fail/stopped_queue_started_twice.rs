// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A queue has one handle, running or stopped.

use dpdk_rs::StoppedRxQueue;

fn stopped_queue_started_twice(stopped: StoppedRxQueue) {
    let _first = stopped.start();
    let _second = stopped.start();
}

fn main() {}
