// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Whoever writes to a zone has it exclusively.

use dpdk_rs::memory::Memzone;

fn zone_bytes_kept_over_write(zone: &mut Memzone) -> u8 {
    let bytes = zone.bytes();
    zone.bytes_mut()[0] = 1;
    bytes[0]
}

fn main() {}
