// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port that was reset has no queues until it is configured anew.

use dpdk_rs::{Port, port::Configured};

fn started_before_its_second_configuration(port: Port<Configured>) {
    let _started = port.reset().unwrap().start();
}

fn main() {}
