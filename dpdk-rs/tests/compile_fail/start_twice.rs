// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port is started once.

use dpdk_rs::{Port, port::Configured};

fn start_twice(port: Port<Configured>) {
    let _first = port.start();
    let _second = port.start();
}

fn main() {}
