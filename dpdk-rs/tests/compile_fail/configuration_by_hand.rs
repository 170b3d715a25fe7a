// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A configuration is made by its methods, which say what it may hold.

use dpdk_rs::PortConfig;

fn configuration_by_hand() -> PortConfig {
    PortConfig { rx_queues: 2, ..PortConfig::default() }
}

fn main() {}
