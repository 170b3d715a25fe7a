// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port receives packets with the private data of the pool that it was configured with.

use dpdk_rs::{
    Mempool, Port, PortConfig,
    port::{Configured, Unconfigured},
};

fn configured_for_another_type(port: Port<Unconfigured>, pool: &Mempool<u64>) -> Port<Configured<u32>> {
    port.configure(&PortConfig::default(), pool).unwrap()
}

fn main() {}
