// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A packet that was cut belongs to its segments.

use dpdk_rs::{Burst, Packet, TxRequest, offload::Segmenter};

fn packet_after_segmentation(segmenter: &Segmenter, packet: Packet, request: &TxRequest) -> usize {
    let mut segments = Burst::<(), 32>::new();
    let _count = segmenter.segment(packet, request, &mut segments);
    packet.len()
}

fn main() {}
