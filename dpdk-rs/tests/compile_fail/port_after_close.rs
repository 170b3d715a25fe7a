// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port that was closed is not used any more.

use dpdk_rs::{Port, port::Configured};

fn port_after_close(port: Port<Configured>) -> u16 {
    port.close();
    port.mtu().unwrap()
}

fn main() {}
