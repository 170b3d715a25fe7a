// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The segments of a packet do not outlive it.

use dpdk_rs::{Packet, Segments};

fn segments_outlive_packet<'a>(packet: Packet) -> Segments<'a> {
    packet.segments()
}

fn main() {}
