// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Private data is written by one at a time.

use dpdk_rs::Packet;

fn private_data_mutable_twice(packet: &mut Packet<u64>) {
    let first = packet.private_mut();
    let second = packet.private_mut();
    core::mem::swap(first, second);
}

fn main() {}
