// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! There is one handle of a queue.

use dpdk_rs::RxQueue;

fn double(rx: RxQueue) -> [RxQueue; 2] {
    [rx.clone(), rx]
}

fn main() {}
