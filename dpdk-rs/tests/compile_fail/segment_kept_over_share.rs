// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Data that is being written is not shared.

use dpdk_rs::{Mempool, Packet};

fn segment_kept_over_share(packet: &mut Packet, pool: &Mempool) {
    let segment = packet.segments_mut().unwrap().next().unwrap();
    let _share = packet.share(pool);
    segment.fill(0);
}

fn main() {}
