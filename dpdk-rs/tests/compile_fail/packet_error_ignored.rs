// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A change that was refused is not taken for done.

use dpdk_rs::Packet;

#[deny(unused_must_use)]
fn packet_error_ignored(packet: &mut Packet) {
    packet.trim(4);
}

fn main() {}
