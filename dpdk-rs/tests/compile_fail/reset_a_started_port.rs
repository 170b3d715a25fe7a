// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port is reset while it is stopped, when nobody has its queues.

use dpdk_rs::{
    Port,
    port::{Started, Unconfigured},
};

fn reset_a_started_port(port: Port<Started>) -> Port<Unconfigured> {
    port.reset().unwrap()
}

fn main() {}
