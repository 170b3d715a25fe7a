// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! All packets of a burst have the same private data.

use dpdk_rs::{Burst, Packet};

fn burst_of_mixed_types(burst: &mut Burst<u64>, packet: Packet<u32>) {
    burst.push(packet).unwrap();
}

fn main() {}
