// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The state of a port is what was done to it.

use dpdk_rs::{
    Port,
    port::{Configured, Started},
};

fn port_state_by_hand(port: Port<Configured>) -> Port<Started> {
    port
}

fn main() {}
