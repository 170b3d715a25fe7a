// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Mbufs: their fields, their reference counts, and how they return to their pools.

use super::pool::{Object, Pool, create_for_mbufs};
#[cfg(loom)]
use crate::sync::begin_number;
use crate::sync::{
    atomic::{AtomicU16, Ordering},
    atomic_u16,
};
use core::{
    ffi::{c_char, c_int, c_void},
    ptr::{self, NonNull},
    slice,
};
use dpdk_sys::{self as sys, rte_mbuf, rte_mempool};

const MBUF: usize = size_of::<rte_mbuf>();
const HEADROOM: u16 = sys::RTE_PKTMBUF_HEADROOM as u16;
const INDIRECT: u64 = sys::DPDK_SYS_MBUF_F_INDIRECT;
const EXTERNAL: u64 = sys::DPDK_SYS_MBUF_F_EXTERNAL;

/// Sets a number that is atomic from now on.
///
/// # Safety
/// `at` points to room for the number, which nobody else uses.
#[cfg(not(loom))]
unsafe fn begin_number(at: *mut u16, value: u16) {
    // SAFETY: the caller promises room.
    unsafe { at.write(value) };
}

/// Declares a function that reads a field of a live mbuf, and one that writes it.
macro_rules! field {
    ($get:ident, $set:ident: $type:ty = $pointer:path) => {
        fn $get(mbuf: *mut rte_mbuf) -> $type {
            // SAFETY: C's callers own the mbuf, so it is live and nobody writes to it.
            unsafe { $pointer(mbuf).read() }
        }

        fn $set(mbuf: *mut rte_mbuf, value: $type) {
            // SAFETY: C's callers own the mbuf, so it is live and nobody else has it.
            unsafe { $pointer(mbuf).write(value) };
        }
    };
}

field!(buf_addr, set_buf_addr: *mut c_void = sys::mbuf_buf_addr);
field!(data_off, set_data_off: u16 = sys::mbuf_data_off);
field!(data_len, set_data_len: u16 = sys::mbuf_data_len);
field!(pkt_len, set_pkt_len: u32 = sys::mbuf_pkt_len);
field!(buf_len, set_buf_len: u16 = sys::mbuf_buf_len);
field!(nb_segs, set_nb_segs: u16 = sys::mbuf_nb_segs);
field!(port, set_port: u16 = sys::mbuf_port);
field!(ol_flags, set_ol_flags: u64 = sys::mbuf_ol_flags);
field!(packet_type, set_packet_type: u32 = sys::mbuf_packet_type);
field!(priv_size, set_priv_size: u16 = sys::mbuf_priv_size);
field!(pool_of, set_pool: *mut rte_mempool = sys::mbuf_pool);
field!(next, set_next: *mut rte_mbuf = sys::mbuf_next);
field!(shinfo, set_shinfo: *mut sys::rte_mbuf_ext_shared_info = sys::mbuf_shinfo);

fn mbuf(object: Object) -> *mut rte_mbuf {
    object.0.as_ptr().cast()
}

/// The reference count of an mbuf.
fn references<'a>(mbuf: *mut rte_mbuf) -> &'a AtomicU16 {
    // SAFETY: the mbuf is live, as is its count.
    unsafe { atomic_u16(sys::mbuf_refcnt(mbuf)) }
}

/// The reference count of an external buffer.
fn users<'a>(shared: *mut sys::rte_mbuf_ext_shared_info) -> &'a AtomicU16 {
    // SAFETY: the state of an external buffer lives as long as an mbuf refers to it.
    unsafe { atomic_u16(&raw mut (*shared).refcnt) }
}

/// Adds to a reference count as DPDK does: a count of 1 has one owner, who needs no atomic operation. Returns the sum.
///
/// DPDK reads the count without ordering. Before it adds, that is an acquisition here: x86 and Arm order the accesses
/// to one number, and so what comes before and after them, more strictly than the model of the languages does.
fn add(count: &AtomicU16, difference: i16) -> u16 {
    if count.load(if difference > 0 { Ordering::Acquire } else { Ordering::Relaxed }) == 1 {
        let sum = 1_u16.wrapping_add_signed(difference);
        count.store(sum, Ordering::Relaxed);
        return sum;
    }
    let sum = count.fetch_add(difference.cast_unsigned(), Ordering::AcqRel).wrapping_add_signed(difference);
    assert!(sum < 1 << 15, "a reference count is above all that this crate allows, or below 0");
    sum
}

/// Makes the mbuf refer to its own buffer, which follows its private area.
fn restore(mbuf: *mut rte_mbuf) {
    let pool = Pool::at(pool_of(mbuf));
    let before = MBUF + usize::from(pool.private_len);
    set_priv_size(mbuf, pool.private_len);
    // SAFETY: the object has this many bytes before the buffer.
    set_buf_addr(mbuf, unsafe { mbuf.byte_add(before) }.cast());
    set_buf_len(mbuf, pool.room);
    set_data_off(mbuf, HEADROOM.min(pool.room));
    set_data_len(mbuf, 0);
    set_ol_flags(mbuf, 0);
}

/// Returns a single mbuf whose data is its own.
fn put(mbuf: *mut rte_mbuf) {
    Pool::at(pool_of(mbuf)).put(Object(NonNull::new(mbuf.cast()).unwrap_or(NonNull::dangling())));
}

/// `rte_pktmbuf_detach`: gives up the reference to another buffer.
fn detach(mbuf: *mut rte_mbuf) {
    if ol_flags(mbuf) & EXTERNAL != 0 {
        let shared = shinfo(mbuf);
        if add(users(shared), -1) == 0 {
            // SAFETY: nobody else refers to the external buffer, and its state is live.
            let (call, argument) = unsafe { ((*shared).free_cb, (*shared).fcb_opaque) };
            // SAFETY: whoever attached the buffer allows one such call.
            call.into_iter().for_each(|call| unsafe { call(buf_addr(mbuf), argument) });
        }
    } else {
        let before = MBUF + usize::from(priv_size(mbuf));
        // SAFETY: an indirect mbuf has the buffer of another mbuf, which is in the same object.
        let other: *mut rte_mbuf = unsafe { buf_addr(mbuf).byte_sub(before) }.cast();
        if add(references(other), -1) == 0 {
            set_next(other, ptr::null_mut());
            set_nb_segs(other, 1);
            references(other).store(1, Ordering::Relaxed);
            put(other);
        }
    }
    restore(mbuf);
}

/// `rte_pktmbuf_free_seg`.
fn free_segment(mbuf: *mut rte_mbuf) {
    if references(mbuf).load(Ordering::Relaxed) != 1 {
        if add(references(mbuf), -1) != 0 {
            return;
        }
        references(mbuf).store(1, Ordering::Relaxed);
    }
    if ol_flags(mbuf) & (INDIRECT | EXTERNAL) != 0 && !Pool::at(pool_of(mbuf)).pinned {
        detach(mbuf);
    }
    set_next(mbuf, ptr::null_mut());
    set_nb_segs(mbuf, 1);
    put(mbuf);
}

#[unsafe(export_name = "rte_pktmbuf_free__extern")]
pub(super) extern "C" fn free(head: *mut rte_mbuf) {
    let mut rest = head;
    while !rest.is_null() {
        let segment = rest;
        rest = next(segment);
        free_segment(segment);
    }
}

#[unsafe(export_name = "rte_pktmbuf_free_bulk")]
extern "C" fn free_bulk(mbufs: *mut *mut rte_mbuf, count: u32) {
    for number in 0..count as usize {
        // SAFETY: the caller has given up `count` mbufs.
        free(unsafe { mbufs.add(number).read() });
    }
}

#[unsafe(export_name = "rte_pktmbuf_alloc__extern")]
extern "C" fn alloc(pool: *mut rte_mempool) -> *mut rte_mbuf {
    let Some(object) = Pool::at(pool).get() else { return ptr::null_mut() };
    let mbuf = mbuf(object);
    set_data_off(mbuf, HEADROOM.min(buf_len(mbuf)));
    set_data_len(mbuf, 0);
    set_pkt_len(mbuf, 0);
    set_nb_segs(mbuf, 1);
    set_port(mbuf, u16::MAX);
    set_packet_type(mbuf, 0);
    set_ol_flags(mbuf, ol_flags(mbuf) & EXTERNAL);
    mbuf
}

#[unsafe(export_name = "rte_pktmbuf_alloc_bulk__extern")]
extern "C" fn alloc_bulk(pool: *mut rte_mempool, mbufs: *mut *mut rte_mbuf, count: u32) -> c_int {
    for number in 0..count as usize {
        let mbuf = alloc(pool);
        if mbuf.is_null() {
            free_bulk(mbufs, number as u32);
            return -sys::ENOENT.cast_signed();
        }
        // SAFETY: the caller has room for `count` pointers.
        unsafe { mbufs.add(number).write(mbuf) };
    }
    0
}

#[unsafe(export_name = "rte_pktmbuf_attach__extern")]
extern "C" fn attach(indirect: *mut rte_mbuf, mbuf: *mut rte_mbuf) {
    let elsewhere = ol_flags(mbuf) & (INDIRECT | EXTERNAL);
    if elsewhere & EXTERNAL != 0 {
        add(users(shinfo(mbuf)), 1);
        set_shinfo(indirect, shinfo(mbuf));
        set_ol_flags(indirect, ol_flags(mbuf));
    } else {
        let before = MBUF + usize::from(priv_size(mbuf));
        // SAFETY: the buffer is in the same object as its mbuf.
        let direct: *mut rte_mbuf = unsafe { buf_addr(mbuf).byte_sub(before) }.cast();
        add(references(direct), 1);
        set_priv_size(indirect, priv_size(mbuf));
        set_ol_flags(indirect, ol_flags(mbuf) | INDIRECT);
    }
    set_buf_addr(indirect, buf_addr(mbuf));
    set_buf_len(indirect, buf_len(mbuf));
    set_data_off(indirect, data_off(mbuf));
    set_data_len(indirect, data_len(mbuf));
    set_pkt_len(indirect, u32::from(data_len(mbuf)));
    set_port(indirect, port(mbuf));
    set_packet_type(indirect, packet_type(mbuf));
    set_next(indirect, ptr::null_mut());
    set_nb_segs(indirect, 1);
}

#[unsafe(export_name = "rte_pktmbuf_clone")]
extern "C" fn clone(head: *mut rte_mbuf, pool: *mut rte_mempool) -> *mut rte_mbuf {
    let first = alloc(pool);
    let (mut last, mut from) = (first, head);
    while !last.is_null() {
        attach(last, from);
        from = next(from);
        if from.is_null() {
            set_nb_segs(first, nb_segs(head));
            set_pkt_len(first, pkt_len(head));
            return first;
        }
        let more = alloc(pool);
        set_next(last, more);
        last = more;
    }
    if !first.is_null() {
        free(first);
    }
    ptr::null_mut()
}

#[unsafe(export_name = "dpdk_sys_pktmbuf_attach_extbuf__extern")]
extern "C" fn attach_external(
    mbuf: *mut rte_mbuf,
    start: *mut c_void,
    _: u64,
    len: u16,
    shared: *mut sys::rte_mbuf_ext_shared_info,
    free: sys::rte_mbuf_extbuf_free_callback_t,
    argument: *mut c_void,
) {
    // SAFETY: the caller has the state of the buffer alone.
    unsafe { ((*shared).free_cb, (*shared).fcb_opaque) = (free, argument) };
    // SAFETY: the caller has the state of the buffer alone.
    unsafe { begin_number(&raw mut (*shared).refcnt, 1) };
    point_to(mbuf, start, len, shared);
}

/// Makes an mbuf refer to an external buffer.
fn point_to(mbuf: *mut rte_mbuf, start: *mut c_void, len: u16, shared: *mut sys::rte_mbuf_ext_shared_info) {
    set_buf_addr(mbuf, start);
    set_buf_len(mbuf, len);
    set_data_off(mbuf, HEADROOM.min(len));
    set_data_len(mbuf, 0);
    set_shinfo(mbuf, shared);
    set_ol_flags(mbuf, ol_flags(mbuf) | EXTERNAL);
}

#[unsafe(export_name = "rte_mbuf_ext_refcnt_read__extern")]
extern "C" fn ext_refcnt_read(shared: *const sys::rte_mbuf_ext_shared_info) -> u16 {
    users(shared.cast_mut()).load(Ordering::Relaxed)
}

#[unsafe(export_name = "rte_pktmbuf_priv_size__extern")]
extern "C" fn pool_priv_size(pool: *mut rte_mempool) -> u16 {
    Pool::at(pool).private_len
}

#[unsafe(export_name = "rte_pktmbuf_data_room_size__extern")]
extern "C" fn data_room_size(pool: *mut rte_mempool) -> u16 {
    Pool::at(pool).room
}

/// Makes an mbuf of an object.
fn begin(pool: *mut rte_mempool, object: Object) -> *mut rte_mbuf {
    let mbuf = mbuf(object);
    set_pool(mbuf, pool);
    set_nb_segs(mbuf, 1);
    set_port(mbuf, u16::MAX);
    // SAFETY: nobody else has the mbuf yet.
    unsafe { begin_number(sys::mbuf_refcnt(mbuf), 1) };
    restore(mbuf);
    mbuf
}

#[unsafe(export_name = "dpdk_sys_pktmbuf_pool_create__extern")]
extern "C" fn pool_create(
    _: *const c_char,
    count: u32,
    cache: u32,
    private_len: u16,
    room: u16,
    _: c_int,
    driver: *const c_char,
) -> *mut rte_mempool {
    let len = MBUF + usize::from(private_len) + usize::from(room);
    create_for_mbufs((count, cache), driver, len, (private_len, room, false), |pool, _, object| {
        begin(pool, object);
    })
}

#[unsafe(export_name = "dpdk_sys_pktmbuf_pool_create_extbuf__extern")]
extern "C" fn pool_create_in(
    _: *const c_char,
    count: u32,
    cache: u32,
    private_len: u16,
    room: u16,
    _: c_int,
    areas: *const sys::rte_pktmbuf_extmem,
    area_count: u32,
) -> *mut rte_mempool {
    // SAFETY: the caller passes this many areas.
    let areas = unsafe { slice::from_raw_parts(areas, area_count as usize) };
    let buffers: Vec<*mut c_void> = areas
        .iter()
        .flat_map(|area| {
            let step = usize::from(area.elt_size);
            // SAFETY: the buffers lie in the area.
            (0..area.buf_len / step).map(move |number| unsafe { area.buf_ptr.byte_add(number * step) })
        })
        .collect();
    let shared = (MBUF + usize::from(private_len)).next_multiple_of(align_of::<sys::rte_mbuf_ext_shared_info>());
    let len = shared + size_of::<sys::rte_mbuf_ext_shared_info>();
    create_for_mbufs((count, cache), ptr::null(), len, (private_len, room, true), |pool, number, object| {
        let mbuf = begin(pool, object);
        // SAFETY: the object has room for the state after the private area.
        let shared: *mut sys::rte_mbuf_ext_shared_info = unsafe { mbuf.byte_add(shared) }.cast();
        // SAFETY: nobody else has the state yet.
        unsafe { begin_number(&raw mut (*shared).refcnt, 1) };
        point_to(mbuf, buffers.get(number).copied().unwrap_or_default(), room, shared);
    })
}

/// Sets how many mbufs refer to the data of an mbuf, as if DPDK had counted them.
#[cfg(loom)]
pub(crate) fn set_references(segment: crate::segment::Segment, count: u16) {
    let mbuf = segment.mbuf().as_ptr();
    let before = MBUF + usize::from(priv_size(mbuf));
    // SAFETY: the buffer is in the same object as its mbuf.
    let direct: *mut rte_mbuf = unsafe { buf_addr(mbuf).byte_sub(before) }.cast();
    references(direct).store(count, Ordering::Relaxed);
}
