// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A device's text can contain addresses of memory and names of others' rings.

use dpdk_rs::Eal;

fn device_of_text(eal: &Eal) {
    eal.attach("net_ring9,internal=0xdead0000").unwrap();
}

fn main() {}
