// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port that is not started has no link to take down.

use dpdk_rs::{Port, port::Configured};

fn set_link_of_configured_port(port: Port<Configured>) {
    port.set_link(false).unwrap();
}

fn main() {}
