// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port is not configured by a struct that can hold pointers.

use dpdk_rs::{Mempool, Port, port::Unconfigured};

fn hole_15_raw_configuration(port: Port<Unconfigured>, pool: &Mempool, raw: dpdk_sys::rte_eth_rxconf) {
    let _port = port.configure(&raw, pool);
}

fn main() {}
