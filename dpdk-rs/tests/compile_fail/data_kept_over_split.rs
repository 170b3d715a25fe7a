// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A reference to the data of a packet ends when the packet is split.

use dpdk_rs::{Mempool, Packet};

fn data_kept_over_split(packet: &mut Packet, pool: &Mempool) -> u8 {
    let data = packet.data_mut().unwrap();
    let _rest = packet.split_off(14, pool).unwrap();
    data[20]
}

fn main() {}
