// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Rules are for a started port.

use dpdk_rs::{
    Port,
    flow::{Flow, Rule},
    port::Configured,
};

fn flow_of_configured_port(port: Port<Configured>, rule: &Rule) -> Flow {
    port.create_flow(rule).unwrap()
}

fn main() {}
