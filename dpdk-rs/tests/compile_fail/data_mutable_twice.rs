// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Data is written by one at a time.

use dpdk_rs::Packet;

fn data_mutable_twice(packet: &mut Packet) {
    let first = packet.data_mut().unwrap();
    let second = packet.data_mut().unwrap();
    first.swap_with_slice(second);
}

fn main() {}
