// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port that is not started has no queues.

use dpdk_rs::{Burst, Port, port::Configured};

fn hole_06_receive_before_start(port: Port<Configured>, burst: &mut Burst) {
    port.rx_queue(0).rx(burst);
}

fn main() {}
