// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The bytes of a zone are borrowed from it.

use dpdk_rs::memory::Memzone;

fn zone_bytes_outlive_zone(zone: Memzone) -> u8 {
    let bytes = zone.bytes();
    drop(zone);
    bytes[0]
}

fn main() {}
