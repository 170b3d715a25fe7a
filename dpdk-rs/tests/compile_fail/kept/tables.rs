// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The promises about tables, objects, zones and timers, kept.
#![allow(dead_code)]

use bytemuck::NoUninit;
use dpdk_rs::{
    Eal, Tsc,
    lookup::{Acl, Fib, FibError, FieldDef, HashReader, HashTable, Lpm, LpmError, RcuReader, RcuWriter},
    memory::{DpdkBox, Memzone, ObjectPool},
    meter::{Color, SrTcm},
    timer::{Timer, Timers},
};
use std::{
    net::Ipv4Addr,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
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

fn hash_key_derived_with_padding(_table: HashTable<Flow, u64>) {}

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

fn short_lived_reference_in_a_pool<'text>(pool: &ObjectPool<&'text str>, text: &'text str) {
    *pool.get().unwrap() = text;
}

fn timer_closure_borrows(timers: &Timers, count: Arc<AtomicU64>) -> Timer {
    timers.timer(move || {
        count.fetch_add(1, Ordering::Relaxed);
    })
}

fn timer_closure_not_send(timers: &Timers, text: Arc<str>) -> Timer {
    timers.timer(move || assert!(text.len() > 0))
}

fn hash_value_kept_over_insert(table: &mut HashTable<u64, String>) -> usize {
    let len = table.get(&1).unwrap().len();
    table.insert(2, String::new()).unwrap();
    len
}

fn rcu_value_kept_over_quiescent(reader: &mut RcuReader<u64, String>) -> usize {
    let len = reader.get(&1).unwrap().len();
    reader.quiescent();
    len
}

fn rcu_value_outlives_reader(reader: RcuReader<u64, String>) -> usize {
    let len = reader.get(&1).unwrap().len();
    drop(reader);
    len
}

fn rcu_writer_cloned(writer: &RcuWriter<u64, String>) -> RcuReader<u64, String> {
    writer.reader().unwrap()
}

fn rcu_value_not_sync(_reader: &RcuReader<u64, AtomicU64>) {}

fn pool_of_objects_not_send(pool: &ObjectPool<Arc<str>>) {
    thread::scope(|scope| {
        scope.spawn(|| drop(pool.get()));
    });
}

fn zone_bytes_kept_over_write(zone: &mut Memzone) -> u8 {
    let byte = zone.bytes()[0];
    zone.bytes_mut()[0] = 1;
    byte
}

fn zone_bytes_outlive_zone(zone: Memzone) -> u8 {
    let byte = zone.bytes()[0];
    drop(zone);
    byte
}

fn boxed_value_not_send(boxed: DpdkBox<Arc<str>>) {
    thread::spawn(move || drop(boxed));
}

fn object_not_send(pool: &ObjectPool<Arc<str>>) {
    let object = pool.get().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || drop(object));
    });
}

fn routes_changed_while_shared(mut routes: Lpm) -> Result<Arc<Lpm>, LpmError> {
    routes.add(Ipv4Addr::LOCALHOST, 8, 1)?;
    Ok(Arc::new(routes))
}

fn meter_shared(meter: &mut SrTcm, now: Tsc) -> Color {
    meter.color(now, 64, Color::Green)
}

fn fib_changed_while_shared(mut routes: Fib) -> Result<Arc<Fib>, FibError> {
    routes.add(Ipv4Addr::LOCALHOST, 8, 1)?;
    Ok(Arc::new(routes))
}

fn acl_results_of_another_count(acl: &Acl<5, 8>, header: &[u8]) -> Option<NonZeroU32> {
    let mut results = [[None; 8]; 1];
    acl.classify_categories(&[header], &mut results).unwrap();
    results[0][0]
}

fn acl_of_five_categories(eal: &Eal) -> bool {
    Acl::builder("acl", [FieldDef::bitmask(9, 1)]).categories::<8>().build(eal).is_ok()
}
