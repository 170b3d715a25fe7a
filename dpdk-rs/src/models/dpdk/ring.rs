// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Rings: elements of any size, copied in and out.

use core::{
    ffi::{c_char, c_int, c_void},
    mem::MaybeUninit,
};
use dpdk_sys::rte_ring;
use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

/// The bytes of an element, some of which may be padding.
type Element = Box<[MaybeUninit<u8>]>;

struct Ring {
    capacity: usize,
    elements: Mutex<VecDeque<Element>>,
}

fn at<'a>(ring: *const rte_ring) -> &'a Ring {
    // SAFETY: the address is from `create`, and lives until it is freed.
    unsafe { &*ring.cast::<Ring>() }
}

/// As many elements as there is room for; all of them, or none in bulk.
fn put(ring: *mut rte_ring, from: *const c_void, len: u32, count: u32, bulk: bool) -> u32 {
    let ring = at(ring);
    let mut elements = ring.elements.lock().unwrap_or_else(PoisonError::into_inner);
    let room = ring.capacity - elements.len();
    let moved = if bulk && (count as usize) > room { 0 } else { room.min(count as usize) };
    for number in 0..moved {
        let mut element = vec![MaybeUninit::<u8>::uninit(); len as usize].into_boxed_slice();
        // SAFETY: the caller passes `count` elements of this length.
        let source = unsafe { from.byte_add(number * len as usize) }.cast();
        // SAFETY: both places have this many bytes, and do not overlap.
        unsafe { element.as_mut_ptr().copy_from_nonoverlapping(source, len as usize) };
        elements.push_back(element);
    }
    moved as u32
}

/// As many elements as there are; all of them, or none in bulk.
fn take(ring: *mut rte_ring, to: *mut c_void, len: u32, count: u32, bulk: bool) -> u32 {
    let mut elements = at(ring).elements.lock().unwrap_or_else(PoisonError::into_inner);
    let held = elements.len();
    let moved = if bulk && (count as usize) > held { 0 } else { held.min(count as usize) };
    for (number, element) in elements.drain(..moved).enumerate() {
        // SAFETY: the caller has room for `count` elements of this length.
        let target = unsafe { to.byte_add(number * len as usize) }.cast::<MaybeUninit<u8>>();
        // SAFETY: both places have this many bytes, and do not overlap.
        unsafe { target.copy_from_nonoverlapping(element.as_ptr(), len as usize) };
    }
    moved as u32
}

#[unsafe(export_name = "rte_ring_create_elem")]
extern "C" fn create(_: *const c_char, _: u32, count: u32, _: c_int, _: u32) -> *mut rte_ring {
    let ring = Ring { capacity: count as usize, elements: Mutex::default() };
    Box::into_raw(Box::new(ring)).cast()
}

#[unsafe(export_name = "rte_ring_free")]
extern "C" fn free(ring: *mut rte_ring) {
    // SAFETY: the address is from `create`, and C frees a ring once.
    drop(unsafe { Box::from_raw(ring.cast::<Ring>()) });
}

#[unsafe(export_name = "rte_ring_count__extern")]
extern "C" fn count(ring: *const rte_ring) -> u32 {
    at(ring).elements.lock().unwrap_or_else(PoisonError::into_inner).len() as u32
}

#[unsafe(export_name = "rte_ring_enqueue_bulk_elem__extern")]
extern "C" fn enqueue_bulk(ring: *mut rte_ring, from: *const c_void, len: u32, count: u32, _: *mut u32) -> u32 {
    put(ring, from, len, count, true)
}

#[unsafe(export_name = "rte_ring_enqueue_burst_elem__extern")]
extern "C" fn enqueue_burst(ring: *mut rte_ring, from: *const c_void, len: u32, count: u32, _: *mut u32) -> u32 {
    put(ring, from, len, count, false)
}

#[unsafe(export_name = "rte_ring_dequeue_bulk_elem__extern")]
extern "C" fn dequeue_bulk(ring: *mut rte_ring, to: *mut c_void, len: u32, count: u32, _: *mut u32) -> u32 {
    take(ring, to, len, count, true)
}

#[unsafe(export_name = "rte_ring_dequeue_burst_elem__extern")]
extern "C" fn dequeue_burst(ring: *mut rte_ring, to: *mut c_void, len: u32, count: u32, _: *mut u32) -> u32 {
    take(ring, to, len, count, false)
}
