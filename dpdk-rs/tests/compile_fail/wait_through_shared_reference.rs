// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A queue sleeps for one thread at a time.

use dpdk_rs::RxQueue;
use std::time::Duration;

fn wait_through_shared_reference(rx: &RxQueue) -> bool {
    rx.wait(Duration::ZERO).unwrap()
}

fn main() {}
