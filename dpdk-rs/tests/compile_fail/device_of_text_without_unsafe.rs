// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A device's text can contain addresses of memory and names of others' rings: whoever passes it on makes a promise.

use dpdk_rs::Eal;

fn device_of_text_without_unsafe(eal: &Eal) {
    eal.attach_raw("net_ring9,nodeaction=net_ring1:0:ATTACH").unwrap();
}

fn main() {}
