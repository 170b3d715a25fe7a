// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The promises about tables, objects and timers, kept.
#![allow(dead_code)]

use bytemuck::NoUninit;
use dpdk_rs::{
    lookup::{HashReader, HashTable},
    memory::ObjectPool,
    timer::{Timer, Timers},
};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

fn main() {}

#[derive(Clone, Copy, NoUninit)]
#[repr(C)]
struct Flow {
    address: u32,
    port: u16,
    reserved: u16,
}

fn hash_key_with_padding(_table: HashTable<Flow, u64>) {}

fn hash_value_kept_over_remove(table: &mut HashTable<u64, String>) -> usize {
    let value = table.remove(&1).unwrap();
    value.len()
}

fn hash_writer_cloned(reader: HashReader<u64, u64>) -> [HashReader<u64, u64>; 2] {
    [reader.clone(), reader]
}

fn object_outlives_pool(pool: ObjectPool<String>) -> usize {
    let object = pool.get().unwrap();
    let len = object.len();
    drop(object);
    drop(pool);
    len
}

fn timer_closure_borrows(timers: &Timers, count: Arc<AtomicU64>) -> Timer {
    timers.timer(move || {
        count.fetch_add(1, Ordering::Relaxed);
    })
}

fn timer_closure_not_send(timers: &Timers, text: Arc<str>) -> Timer {
    timers.timer(move || assert!(text.len() > 0))
}
