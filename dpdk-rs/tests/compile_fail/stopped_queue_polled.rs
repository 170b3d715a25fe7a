// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A queue that is stopped receives nothing.

use dpdk_rs::{Burst, RxQueue};

fn stopped_queue_polled(rx: RxQueue, burst: &mut Burst) {
    let mut stopped = rx.stop().unwrap();
    stopped.rx(burst);
}

fn main() {}
