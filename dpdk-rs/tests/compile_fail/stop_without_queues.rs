// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port is stopped when nobody can poll its queues any more: they are given back.

use dpdk_rs::{
    Port,
    port::{Configured, Started},
};

fn stop_without_queues(port: Port<Started>) -> Port<Configured> {
    port.stop().unwrap()
}

fn main() {}
