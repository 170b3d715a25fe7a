// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Who may only look at a packet does not share it: its references are not counted atomically at first.

use dpdk_rs::{Mempool, Packet};

fn shared_through_shared_reference(packet: &Packet, pool: &Mempool) -> Option<Packet> {
    packet.share(pool)
}

fn main() {}
