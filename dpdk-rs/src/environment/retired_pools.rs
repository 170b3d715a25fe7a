// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Pools without a handle, freed once all mbufs are back and no thread can be inside a call that accesses them.

use super::{deferred_drop::drop_unlocked, rounds::Rounds};
use crate::sync::{Mutex, MutexGuard, global};
use core::{mem::ManuallyDrop, ptr::NonNull};
use dpdk_sys as sys;
use std::sync::PoisonError;

/// Memory of the program that contains the buffers of a pool's mbufs, to be dropped after the pool is freed. Dropping
/// this value leaks the memory, since mbufs in it may be left.
pub(crate) type PoolMemory = ManuallyDrop<Option<Box<dyn Send + Sync>>>;

/// A pool without a handle.
pub(super) struct Retired {
    pool: RawPool,
    /// The memory of its mbufs' buffers, if they are not in the mbufs.
    memory: PoolMemory,
    /// The progress of DPDK's own service cores when all mbufs were found to be back.
    full_since: Option<Rounds>,
}

impl Retired {
    /// # Safety
    /// The pool is live until it leaves its list, has no handle, and nobody else frees it. All buffers of its mbufs are in
    /// the pool or in `memory`.
    pub(super) const unsafe fn new(pool: RawPool, memory: PoolMemory) -> Self {
        Self { pool, memory, full_since: None }
    }

    /// Whether all mbufs were found to be back, so that only service cores still have to finish.
    pub(super) const fn is_full(&self) -> bool {
        self.full_since.is_some()
    }

    /// Whether all mbufs are back, and no thread is still inside the call that returned the last one.
    fn is_at_rest(&mut self) -> bool {
        // SAFETY: `new` was promised a pool that is live until it leaves the list, which is borrowed exclusively.
        let full = unsafe { sys::dpdk_sys_mempool_full(self.pool.as_ptr()) } != 0;
        if !full {
            self.full_since = None;
            return false;
        }
        self.full_since.get_or_insert_with(Rounds::now).have_ended()
    }
}

/// A pool that was not freed.
#[derive(Clone, Copy)]
pub(crate) struct RawPool(NonNull<sys::rte_mempool>);

// SAFETY: any thread may use DPDK's pools, and this type gives no other access than their address.
unsafe impl Send for RawPool {}
// SAFETY: several threads may use DPDK's pools at once, and a shared `RawPool` gives only the address.
unsafe impl Sync for RawPool {}

impl RawPool {
    /// # Safety
    /// The pool is live as long as a copy of the result is used.
    pub(crate) const unsafe fn new(pool: NonNull<sys::rte_mempool>) -> Self {
        Self(pool)
    }

    #[inline]
    pub(crate) const fn as_ptr(self) -> *mut sys::rte_mempool {
        self.0.as_ptr()
    }
}

/// Frees the pools whose mbufs are all back.
///
/// Returning an mbuf is not one atomic step for a thread with an lcore id: the mbuf goes to the lcore's cache, which
/// counts it before it is stored. So pools are freed only when no such thread can be inside DPDK: on the main lcore's
/// own thread, with no lcore scope open. Any other thread returns mbufs directly to the pool's driver, and its last
/// access is the store that makes the mbuf count as returned, or `dpdk_sys_mempool_full` waits for it. The remaining
/// case is lcores that call services of drivers because of the EAL's options: a pool is freed only after each of them
/// has ended the round in which the last mbuf came back.
///
/// # Safety
/// The control plane is locked, and [`Environment::may_free`](super::Environment::may_free) has just agreed.
pub(super) unsafe fn free(pools: &mut Vec<Retired>) {
    if pools.is_empty() {
        return;
    }
    // A secondary process that looks up a pool takes an mbuf from it under this lock.
    // SAFETY: the EAL is initialised, since there is a pool; the lock lies in memory that lives as long.
    unsafe { sys::rte_mcfg_mempool_write_lock() };
    pools.retain_mut(|retired| {
        let at_rest = retired.is_at_rest();
        if at_rest {
            // SAFETY: no handle and no mbuf of the pool is left, including in other processes, which keep an mbuf with
            // each handle. Nobody is inside a call that uses the pool: as the caller promises, this is the main lcore's thread, with
            // no lcore scope open, DPDK's own service cores have completed their rounds since, and a thread without an
            // lcore id is done with the pool once its mbuf counts as returned.
            unsafe { sys::rte_mempool_free(retired.pool.as_ptr()) };
            // The memory contains no mbuf any more.
            retired.memory.take().into_iter().for_each(|memory| drop_unlocked(memory));
        }
        !at_rest
    });
    // SAFETY: this thread took the lock a few lines above.
    unsafe { sys::rte_mcfg_mempool_write_unlock() };
}

/// Pools that were still in use when all other objects were gone.
pub(super) fn left_behind() -> MutexGuard<'static, Vec<Retired>> {
    global! {
        static LEFT: Mutex<Vec<Retired>> = Mutex::new(Vec::new());
    }
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}
