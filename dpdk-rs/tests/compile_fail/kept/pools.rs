// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The promises about pools and private data, kept.
#![allow(dead_code)]

use bytemuck::{Pod, Zeroable};
use dpdk_rs::{Burst, Eal, Mempool, Packet, PoolCache, memory::ExternalMemory};
use std::{sync::Arc, thread};

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

fn pool_memory_borrows(eal: &Eal) -> Mempool {
    let bytes = [0; 8192];
    Mempool::builder("pool").size(3).build_in(eal, bytes).map_err(|(error, _)| error).unwrap()
}

fn registered_memory_borrows(eal: &Eal) -> ExternalMemory<Vec<u8>> {
    let bytes = vec![0; 8192];
    ExternalMemory::register(eal, bytes, 4096).map_err(|(error, _)| error).unwrap()
}

fn pool_memory_kept(eal: &Eal, memory: Vec<u8>) -> usize {
    match Mempool::<()>::builder("pool").size(3).build_in(eal, memory) {
        Ok(pool) => pool.available(),
        Err((_, memory)) => memory.len(),
    }
}

struct Memory(Vec<u8>, Arc<()>);

impl AsMut<[u8]> for Memory {
    fn as_mut(&mut self) -> &mut [u8] {
        assert!(Arc::strong_count(&self.1) > 0);
        &mut self.0
    }
}

fn pool_memory_not_send(eal: &Eal, memory: Memory) -> bool {
    Mempool::<()>::builder("pool").size(3).build_in(eal, memory).is_ok()
}

fn pool_cache_shared(cache: &mut PoolCache) {
    thread::scope(|scope| {
        scope.spawn(|| cache.alloc().is_some());
    });
    cache.flush();
}

fn packet_of_another_type(pool: &Mempool<u32>) -> Packet<u32> {
    pool.alloc().unwrap()
}

fn bulk_of_another_type(pool: &Mempool<u32>, burst: &mut Burst<u32>) {
    pool.alloc_bulk(burst);
}
