// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A fragment belongs to the table that it was given to.

use dpdk_rs::{Packet, Tsc, fragment::FragmentTable};

fn fragment_after_reassembly(table: &mut FragmentTable, packet: Packet, now: Tsc) -> usize {
    let _whole = table.ipv4(packet, 14, now);
    packet.len()
}

fn main() {}
