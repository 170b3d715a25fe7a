// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Data does not outlive its packet.

use dpdk_rs::Mempool;

fn data_outlives_packet<'a>(pool: &'a Mempool) -> &'a [u8] {
    let packet = pool.alloc().unwrap();
    packet.data()
}

fn main() {}
