// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port that is started is not configured.

use dpdk_rs::{Mempool, Port, PortConfig, port::Started};

fn configure_a_started_port(port: Port<Started>, pool: &Mempool) {
    let _port = port.configure(&PortConfig::default(), pool);
}

fn main() {}
