// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The MTU of a port is set while it is stopped.

use dpdk_rs::{Port, port::Started};

fn set_mtu_of_started_port(port: Port<Started>) {
    port.set_mtu(9000).unwrap();
}

fn main() {}
