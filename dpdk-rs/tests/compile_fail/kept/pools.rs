// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The promises about pools and private data, kept.
#![allow(dead_code)]

use bytemuck::{Pod, Zeroable};
use dpdk_rs::{Burst, Eal, Mempool, Packet};

fn main() {}

fn private_data_with_pointer(_pool: Mempool<[u8; 24]>) {}

fn private_data_with_raw_pointer(_pool: Mempool<usize>) {}

fn private_data_with_reference(_pool: Mempool<[u8; 16]>) {}

fn hole_04_rc_in_private_data(_pool: Mempool<u64>) {}

fn hole_04_cell_in_private_data(_pool: Mempool<u64>) {}

fn private_data_bool(_pool: Mempool<u8>) {}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Colour(u8);

impl Colour {
    const RED: Self = Self(1);
}

fn private_data_enum(pool: Mempool<Colour>) {
    *pool.alloc().unwrap().private_mut() = Colour::RED;
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Stamp {
    sequence: u64,
    stream: u32,
    reserved: u32,
}

fn private_data_with_padding(_pool: Mempool<Stamp>) {}

fn hole_03_private_data_too_long(eal: &Eal) -> Mempool<[u64; 8191]> {
    Mempool::builder("pool").build(eal).unwrap()
}

fn private_data_over_aligned(eal: &Eal) -> Mempool<[u64; 2]> {
    Mempool::builder("pool").build(eal).unwrap()
}

fn mempool_made_by_hand(eal: &Eal) -> Mempool {
    Mempool::builder("pool").build(eal).unwrap()
}

fn packet_of_another_type(pool: &Mempool<u32>) -> Packet<u32> {
    pool.alloc().unwrap()
}

fn bulk_of_another_type(pool: &Mempool<u32>, burst: &mut Burst<u32>) {
    pool.alloc_bulk(burst);
}
