// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! There is one handle of an RX queue.

use dpdk_rs::RxQueue;

fn hole_11_rx_queue_cloned(rx: RxQueue) -> [RxQueue; 2] {
    [rx.clone(), rx]
}

fn main() {}
