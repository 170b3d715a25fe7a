// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port is configured once.

use dpdk_rs::{Mempool, Port, PortConfig, port::Unconfigured};

fn configure_twice(port: Port<Unconfigured>, pool: &Mempool) {
    let _first = port.configure(&PortConfig::default(), pool);
    let _second = port.configure(&PortConfig::default(), pool);
}

fn main() {}
