// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Nobody makes a packet of an mbuf that somebody else may own.

use core::ptr::NonNull;
use dpdk_rs::Packet;

fn hole_08_packet_of_a_pointer(mbuf: NonNull<dpdk_sys::rte_mbuf>) -> Packet {
    unsafe { Packet::from_mbuf(mbuf) }
}

fn main() {}
