// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port of another process is closed by that one.

use dpdk_rs::{Port, secondary::Foreign};

fn foreign_port_closed(port: Port<Foreign>) {
    port.close();
}

fn main() {}
