// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The mbuf, and with it the flags that say whose buffer it has, is out of reach.

use core::ptr::NonNull;
use dpdk_rs::Packet;

fn hole_12_raw_mbuf(packet: &Packet) -> NonNull<dpdk_sys::rte_mbuf> {
    packet.mbuf
}

fn main() {}
