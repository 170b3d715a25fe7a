// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port that is not started has no queues.

use dpdk_rs::{Burst, Port, port::Configured};

fn receive(port: Port<Configured>) {
    let mut burst = Burst::<(), 32>::new();
    port.rx_queue(0).rx(&mut burst);
}

fn main() {}
