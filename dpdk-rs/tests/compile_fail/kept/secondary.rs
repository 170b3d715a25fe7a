// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The promises about processes that share memory, kept.
#![allow(dead_code)]

use dpdk_rs::{
    Eal, EalOptions, Mempool, Packet, Port, Ring,
    secondary::{Foreign, Secondary},
};

fn main() {}

fn shared_ring_of_boxes(eal: &Eal) -> (Ring<[u64; 4]>, Ring<Packet>) {
    (Ring::builder("numbers").shared().build(eal).unwrap(), Ring::builder("packets").shared().build(eal).unwrap())
}

fn attached_without_unsafe() -> Secondary {
    // SAFETY: the primary process is the same program, and frees nothing before this one has ended.
    unsafe { Secondary::attach(EalOptions::new()) }.unwrap().0
}

fn ring_found_without_unsafe(primary: &Secondary) -> Ring<u64> {
    // SAFETY: the primary process has made the ring for such elements, and shares it.
    unsafe { primary.ring("ring") }.unwrap()
}

fn pool_made_by_secondary(primary: &Secondary) -> Mempool {
    primary.pool("pool").unwrap()
}

fn foreign_port_closed(port: Port<Foreign>) {
    drop(port);
}
