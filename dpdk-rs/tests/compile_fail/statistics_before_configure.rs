// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A port that was not configured has no statistics.

use dpdk_rs::{Port, port::Unconfigured};

fn statistics_before_configure(port: Port<Unconfigured>) -> u64 {
    port.stats().unwrap().ipackets
}

fn main() {}
