// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Pools: objects, the driver that stores the free ones, and the caches of lcores.

use super::{
    lcore::{LCORES, lcore_id},
    memory::Memory,
    set_errno,
};
#[cfg(loom)]
use crate::sync::global;
use crate::sync::{
    atomic::{AtomicBool, AtomicUsize, Ordering, fence},
    thread,
};
use core::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr::{self, NonNull},
};
use dpdk_sys as sys;
use std::{
    alloc::{self, Layout},
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

/// An object of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Object(pub(super) NonNull<u8>);

// SAFETY: an object is memory, which any thread may use.
unsafe impl Send for Object {}
// SAFETY: a shared `Object` gives only its address.
unsafe impl Sync for Object {}

/// The free objects. Only the order of accesses around it is modelled.
#[derive(Default)]
struct Free(Mutex<VecDeque<Object>>);

impl Free {
    fn push(&self, object: Object) {
        let mut objects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        assert!(!objects.contains(&object), "an object was returned twice");
        objects.push_back(object);
    }

    fn pop(&self) -> Option<Object> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// A driver, as far as threads see it.
enum Driver {
    /// `ring_mp_mc`: a thread claims a place, stores there, waits for the threads before it, and moves the tail.
    Ring {
        free: Free,
        producers: AtomicUsize,
        producers_tail: AtomicUsize,
        consumers: AtomicUsize,
        consumers_tail: AtomicUsize,
    },
    /// `stack`: a lock. The number of objects is changed under it, and read without it.
    Stack { free: Free, locked: AtomicBool, len: AtomicUsize },
}

/// The cache of an lcore: its length is changed before the object is stored.
#[derive(Default)]
struct Cache {
    len: AtomicUsize,
    free: Free,
}

/// A pool. C has a pointer to it.
pub(super) struct Pool {
    memory: Memory,
    objects: Vec<Object>,
    layout: Layout,
    driver: Driver,
    caches: Vec<Cache>,
    pub(super) private_len: u16,
    pub(super) room: u16,
    /// Whether the buffers of its mbufs are in memory of the program.
    pub(super) pinned: bool,
}

impl Pool {
    /// The pool at an address that C was given.
    pub(super) fn at<'a>(pool: *const sys::rte_mempool) -> &'a Self {
        // SAFETY: the address is from `create`. The pool lives until it is freed, and in a model until the end.
        unsafe { &*pool.cast::<Self>() }
    }

    fn create(count: u32, len: usize, cached: bool, stack: bool) -> Box<Self> {
        let layout = Layout::from_size_align(len, 64).unwrap_or(Layout::new::<u64>());
        let object = |_| {
            // SAFETY: a layout has at least one byte.
            let object = unsafe { alloc::alloc_zeroed(layout) };
            Object(NonNull::new(object).unwrap_or_else(|| alloc::handle_alloc_error(layout)))
        };
        let objects: Vec<Object> = (0..count).map(object).collect();
        let free = Free(Mutex::new(objects.iter().copied().collect()));
        let len = objects.len();
        let driver = if stack {
            Driver::Stack { free, locked: AtomicBool::new(false), len: AtomicUsize::new(len) }
        } else {
            Driver::Ring {
                free,
                producers: AtomicUsize::new(len),
                producers_tail: AtomicUsize::new(len),
                consumers: AtomicUsize::new(0),
                consumers_tail: AtomicUsize::new(0),
            }
        };
        let caches = (0..if cached { LCORES } else { 0 }).map(|_| Cache::default()).collect();
        Box::new(Self {
            memory: Memory::default(),
            objects,
            layout,
            driver,
            caches,
            private_len: 0,
            room: 0,
            pinned: false,
        })
    }

    fn cache(&self) -> Option<&Cache> {
        self.caches.get(usize::try_from(lcore_id()).ok()?)
    }

    pub(super) fn get(&self) -> Option<Object> {
        self.memory.touch();
        let Some(cache) = self.cache() else { return self.dequeue() };
        let len = cache.len.load(Ordering::Relaxed);
        if len == 0 {
            return self.dequeue();
        }
        self.memory.touch();
        let object = cache.free.pop();
        cache.len.store(len - 1, Ordering::Relaxed);
        self.memory.touch();
        object
    }

    pub(super) fn put(&self, object: Object) {
        self.memory.touch();
        let Some(cache) = self.cache() else { return self.enqueue(object) };
        let len = cache.len.load(Ordering::Relaxed);
        cache.len.store(len + 1, Ordering::Relaxed);
        // In a model the thread can be interrupted here, with an object that is counted and not stored.
        cache.len.load(Ordering::Relaxed);
        self.memory.touch();
        cache.free.push(object);
    }

    fn enqueue(&self, object: Object) {
        match &self.driver {
            Driver::Ring { free, producers, producers_tail, .. } => {
                let place = producers.fetch_add(1, Ordering::Relaxed);
                self.memory.touch();
                free.push(object);
                while producers_tail.load(Ordering::Relaxed) != place {
                    thread::yield_now();
                }
                self.memory.touch();
                producers_tail.store(place + 1, Ordering::Release);
            }
            Driver::Stack { free, locked, len } => {
                self.lock(locked);
                free.push(object);
                len.store(len.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
                self.memory.touch();
                locked.store(false, Ordering::Release);
            }
        }
    }

    fn dequeue(&self) -> Option<Object> {
        match &self.driver {
            Driver::Ring { free, producers_tail, consumers, consumers_tail, .. } => loop {
                let place = consumers.load(Ordering::Acquire);
                if producers_tail.load(Ordering::Acquire) == place {
                    return None;
                }
                if consumers.compare_exchange(place, place + 1, Ordering::Relaxed, Ordering::Relaxed).is_err() {
                    continue;
                }
                self.memory.touch();
                let object = free.pop();
                while consumers_tail.load(Ordering::Relaxed) != place {
                    thread::yield_now();
                }
                self.memory.touch();
                consumers_tail.store(place + 1, Ordering::Release);
                return object;
            },
            Driver::Stack { free, locked, len } => {
                self.lock(locked);
                let object = free.pop();
                if object.is_some() {
                    len.store(len.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
                }
                self.memory.touch();
                locked.store(false, Ordering::Release);
                object
            }
        }
    }

    fn lock(&self, locked: &AtomicBool) {
        while locked.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_err() {
            thread::yield_now();
        }
        self.memory.touch();
    }

    /// `rte_mempool_avail_count`.
    fn available(&self) -> usize {
        self.memory.touch();
        let stored = match &self.driver {
            Driver::Ring { producers_tail, consumers_tail, .. } => {
                producers_tail.load(Ordering::Relaxed).wrapping_sub(consumers_tail.load(Ordering::Relaxed))
            }
            Driver::Stack { len, .. } => len.load(Ordering::Relaxed),
        };
        stored + self.caches.iter().map(|cache| cache.len.load(Ordering::Relaxed)).sum::<usize>()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        for object in &self.objects {
            // SAFETY: `create` has allocated the object with this layout, and it is freed once.
            unsafe { alloc::dealloc(object.0.as_ptr(), self.layout) };
        }
    }
}

#[cfg(loom)]
global! {
    /// The pools of an execution, freed or not: they stay readable until its end.
    static POOLS: Mutex<Vec<Box<Pool>>> = Mutex::default();
}

/// Gives a pool to C.
fn give(pool: Box<Pool>) -> *mut sys::rte_mempool {
    #[cfg(loom)]
    {
        let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
        pools.push(pool);
        pools.last_mut().map_or(ptr::null_mut(), |pool| (&raw mut **pool).cast())
    }
    #[cfg(not(loom))]
    Box::into_raw(pool).cast()
}

/// Whether the execution has freed all pools.
#[cfg(loom)]
pub(crate) fn all_are_freed() -> bool {
    POOLS.lock().unwrap_or_else(PoisonError::into_inner).iter().all(|pool| pool.memory.is_freed())
}

/// A pool of mbufs, whose objects the caller makes mbufs of.
pub(super) fn create_for_mbufs(
    (count, cached): (u32, u32),
    driver: *const c_char,
    len: usize,
    (private_len, room, pinned): (u16, u16, bool),
    make: impl Fn(*mut sys::rte_mempool, usize, Object),
) -> *mut sys::rte_mempool {
    // SAFETY: the name of a driver is a static string, or null.
    let stack = !driver.is_null() && unsafe { CStr::from_ptr(driver) } == c"stack";
    let mut pool = Pool::create(count, len, cached != 0, stack);
    (pool.private_len, pool.room, pool.pinned) = (private_len, room, pinned);
    let objects = pool.objects.clone();
    let pool = give(pool);
    objects.into_iter().enumerate().for_each(|(number, object)| make(pool, number, object));
    pool
}

#[unsafe(export_name = "rte_mempool_create")]
extern "C" fn create(
    _: *const c_char,
    count: u32,
    len: u32,
    cached: u32,
    _: u32,
    _: sys::rte_mempool_ctor_t,
    _: *mut c_void,
    _: sys::rte_mempool_obj_cb_t,
    _: *mut c_void,
    _: c_int,
    _: u32,
) -> *mut sys::rte_mempool {
    if count == 0 {
        set_errno(sys::EINVAL.cast_signed());
        return ptr::null_mut();
    }
    give(Pool::create(count, len as usize, cached != 0, false))
}

#[unsafe(export_name = "rte_mempool_free")]
extern "C" fn free(pool: *mut sys::rte_mempool) {
    Pool::at(pool).memory.free();
    #[cfg(not(loom))]
    // SAFETY: `give` has made the pointer of a box, and C frees a pool once.
    drop(unsafe { Box::from_raw(pool.cast::<Pool>()) });
}

#[unsafe(export_name = "rte_mempool_get__extern")]
extern "C" fn get(pool: *mut sys::rte_mempool, place: *mut *mut c_void) -> c_int {
    let Some(object) = Pool::at(pool).get() else { return -sys::ENOENT.cast_signed() };
    // SAFETY: the caller has room for a pointer.
    unsafe { place.write(object.0.as_ptr().cast()) };
    0
}

#[unsafe(export_name = "rte_mempool_put__extern")]
extern "C" fn put(pool: *mut sys::rte_mempool, object: *mut c_void) {
    NonNull::new(object.cast()).map(Object).into_iter().for_each(|object| Pool::at(pool).put(object));
}

#[unsafe(export_name = "rte_mempool_obj_iter")]
extern "C" fn obj_iter(pool: *mut sys::rte_mempool, call: sys::rte_mempool_obj_cb_t, state: *mut c_void) -> u32 {
    let objects = &Pool::at(pool).objects;
    for (number, object) in objects.iter().enumerate() {
        let Some(call) = call else { break };
        // SAFETY: the caller allows the call for each object of the pool.
        unsafe { call(pool, state, object.0.as_ptr().cast(), number as u32) };
    }
    objects.len() as u32
}

#[unsafe(export_name = "rte_mempool_avail_count")]
extern "C" fn avail_count(pool: *const sys::rte_mempool) -> u32 {
    Pool::at(pool).available() as u32
}

/// As in `wrapper.h`.
#[unsafe(export_name = "dpdk_sys_mempool_full__extern")]
extern "C" fn full(pool: *mut sys::rte_mempool) -> c_int {
    let pool = Pool::at(pool);
    let full = pool.available() == pool.objects.len();
    if full {
        pool.dequeue().into_iter().for_each(|object| pool.enqueue(object));
    }
    fence(Ordering::SeqCst);
    c_int::from(full)
}

/// Secondary processes are not modelled.
#[unsafe(export_name = "rte_mcfg_mempool_write_lock")]
extern "C" fn write_lock() {}

#[unsafe(export_name = "rte_mcfg_mempool_write_unlock")]
extern "C" fn write_unlock() {}

#[unsafe(export_name = "dpdk_sys_mempool_driver_known__extern")]
extern "C" fn driver_known(_: *const c_char) -> c_int {
    1
}
