// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port is configured before it is started.

use dpdk_rs::{Eal, port::StartedPort};

fn start_before_configure(eal: &Eal) -> Vec<StartedPort<()>> {
    eal.ports().into_iter().map(|port| port.start().unwrap()).collect()
}

fn main() {}
