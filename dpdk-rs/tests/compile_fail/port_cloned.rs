// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! There is one handle of a port.

use dpdk_rs::{Port, port::Started};

fn port_cloned(port: Port<Started>) -> [Port<Started>; 2] {
    [port.clone(), port]
}

fn main() {}
