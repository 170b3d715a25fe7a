// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A share has the private data of the pool that it was taken from.

use dpdk_rs::{Mempool, Packet};

fn share_of_another_type(packet: &mut Packet<u64>, pool: &Mempool<u32>) -> Option<Packet<u64>> {
    packet.share(pool)
}

fn main() {}
