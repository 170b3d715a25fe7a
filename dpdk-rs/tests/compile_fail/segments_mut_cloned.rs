// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Each segment is handed out once to be written.

use dpdk_rs::Packet;

fn segments_mut_cloned(packet: &mut Packet) {
    let mut first = packet.segments_mut().unwrap();
    let mut second = first.clone();
    first.next().unwrap().swap_with_slice(second.next().unwrap());
}

fn main() {}
