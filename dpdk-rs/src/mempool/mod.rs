// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Pools of mbufs.

mod builder;
mod cache;
mod driver;
mod error;
mod memory;
mod private_data;

pub use builder::MempoolBuilder;
pub use cache::PoolCache;
pub use driver::PoolDriver;
pub use error::MempoolError;
pub use private_data::PrivateData;

use crate::{
    SocketId,
    environment::{Environment, PoolMemory, RawPool},
    ids::LcoreId,
};
use core::{
    fmt,
    marker::PhantomData,
    mem::{self, ManuallyDrop},
    ptr::NonNull,
};
use dpdk_sys as sys;
use std::sync::Arc;

/// The maximum number of objects in a pool. DPDK computes the bytes of a lock-free stack, 16 for each object, in 32 bits:
/// from 2^28 objects on it reserves too few, and writes past their end.
pub(crate) const MOST_OBJECTS: u32 = 1 << 27;

/// `RTE_MEMPOOL_NAMESIZE` less the NUL byte.
const LONGEST_NAME: usize = 25;

/// A pool of mbufs, each with a private area of type `P`.
///
/// A clone is another handle of the same pool. Ports keep the pools of their queues alive, and packets may outlive
/// every handle: the memory is freed once all mbufs have returned. This crate checks that when the last handle is
/// dropped, when another pool is created, when an [`lcore::scope`](crate::lcore::scope) ends, when the
/// [`Eal`](crate::Eal) is dropped and when the EAL is cleaned up.
#[doc(alias = "rte_mempool")]
pub struct Mempool<P: PrivateData = ()> {
    handle: Arc<PoolHandle>,
    private: PhantomData<P>,
}

/// Shared by the handles of a pool and the ports that receive into it.
pub(crate) struct PoolHandle {
    pub(crate) pool: RawPool,
    eal: Arc<Environment>,
    size: u32,
    pub(crate) data_room: u16,
    /// The memory with the mbufs' buffers, if they are not in the mbufs. It is dropped after the pool.
    memory: PoolMemory,
    /// Whether any of that memory is not DPDK's.
    outside: bool,
    /// An mbuf of a pool that another process created: as long as this mbuf is missing, that process does not free the
    /// pool.
    kept: Option<Kept>,
}

/// An mbuf in use by nobody.
struct Kept(NonNull<sys::rte_mbuf>);

// SAFETY: the only access to the mbuf is that its only owner frees it, which DPDK lets any thread do.
unsafe impl Send for Kept {}
// SAFETY: a shared `Kept` gives no access to the mbuf at all.
unsafe impl Sync for Kept {}

impl Drop for PoolHandle {
    fn drop(&mut self) {
        match self.kept.take() {
            // SAFETY: the mbuf belongs to this handle, and is not used after its drop.
            Some(kept) if !self.eal.is_forked() => unsafe { sys::rte_pktmbuf_free(kept.0.as_ptr()) },
            Some(_) => (),
            // SAFETY: this is the only handle of the pool, which is being dropped. `of_own` was promised a live pool that
            // nobody else frees, with this memory.
            None => unsafe { self.eal.retire_pool(self.pool, mem::take(&mut self.memory)) },
        }
    }
}

impl PoolHandle {
    /// Whether any of the memory with the mbufs' buffers is not DPDK's; `None` if the buffers are in the mbufs.
    pub(crate) fn buffers_outside(&self) -> Option<bool> {
        self.memory.is_some().then_some(self.outside)
    }
}

impl<P: PrivateData> Clone for Mempool<P> {
    fn clone(&self) -> Self {
        Self { handle: Arc::clone(&self.handle), private: PhantomData }
    }
}

impl<P: PrivateData> Mempool<P> {
    /// The size of the private area in bytes, a multiple of 8 (`RTE_MBUF_PRIV_ALIGN`).
    pub(crate) const PRIVATE_LEN: u16 = {
        assert!(align_of::<P>() <= sys::RTE_MBUF_PRIV_ALIGN as usize, "private data may be aligned to 8 bytes at most");
        assert!(size_of::<P>() <= 65_528, "private data may be 65,528 bytes long at most");
        size_of::<P>().next_multiple_of(sys::RTE_MBUF_PRIV_ALIGN as usize) as u16
    };

    /// A new pool, with the memory of the mbufs' buffers if they are not in the pool, and whether any of that memory is
    /// not DPDK's.
    ///
    /// # Safety
    /// The pool is live, nobody else frees it, and its `size` mbufs have `data_room` bytes and a private area for a `P` each.
    unsafe fn of_own(
        pool: NonNull<sys::rte_mempool>,
        (size, data_room): (u32, u16),
        memory: Option<Box<dyn Send + Sync>>,
        outside: bool,
        eal: &Arc<Environment>,
    ) -> Self {
        // SAFETY: the caller promises a live pool, which is freed only after its handle is gone.
        let pool = unsafe { RawPool::new(pool) };
        let (eal, memory) = (Arc::clone(eal), ManuallyDrop::new(memory));
        let handle = PoolHandle { pool, eal, size, data_room, memory, outside, kept: None };
        Self { handle: Arc::new(handle), private: PhantomData }
    }

    /// A pool that another process created; `kept` is an mbuf of it that nobody else owns.
    ///
    /// # Safety
    /// The pool lives as long as `kept` is missing from it, and has `size` mbufs, each with `data_room` bytes and a
    /// private area for a `P`.
    pub(crate) unsafe fn of_other(
        pool: NonNull<sys::rte_mempool>,
        kept: NonNull<sys::rte_mbuf>,
        (size, data_room): (u32, u16),
        eal: Arc<Environment>,
    ) -> Self {
        // SAFETY: the caller promises a live pool as long as `kept` is missing, which the handle holds.
        let pool = unsafe { RawPool::new(pool) };
        let (kept, memory) = (Some(Kept(kept)), ManuallyDrop::new(None));
        let handle = PoolHandle { pool, eal, size, data_room, memory, outside: false, kept };
        Self { handle: Arc::new(handle), private: PhantomData }
    }

    /// The number of mbufs in the pool, free or in use.
    #[must_use]
    pub fn size(&self) -> usize {
        self.handle.size as usize
    }

    /// The size of an mbuf's buffer in bytes, including the headroom.
    #[must_use]
    pub fn data_room(&self) -> usize {
        usize::from(self.handle.data_room)
    }

    /// The number of free mbufs, including those in caches of lcores. Slow: for tests and statistics.
    #[doc(alias = "rte_mempool_avail_count")]
    #[must_use]
    pub fn available(&self) -> usize {
        // SAFETY: the pool is live as long as this handle; the call only counts.
        unsafe { sys::rte_mempool_avail_count(self.as_ptr()) as usize }
    }

    /// The number of free mbufs in the cache of `lcore` at this moment ([`MempoolBuilder::cache`]). Other lcores cannot
    /// allocate these mbufs. For statistics.
    #[doc(alias = "rte_mempool_cache")]
    #[must_use]
    pub fn cached(&self, lcore: LcoreId) -> usize {
        // SAFETY: the pool is live as long as this handle; the call compares the number, and reads a count.
        unsafe { sys::dpdk_sys_mempool_cached(self.as_ptr(), lcore.get()) as usize }
    }

    /// Returns the mbufs in the calling lcore's cache to the pool, for instance before the lcore stops polling. Does
    /// nothing on a thread that is not an lcore.
    #[doc(alias = "rte_mempool_cache_flush")]
    pub fn flush_cache(&self) {
        // SAFETY: the pool is live as long as this handle, and only the calling thread uses the cache of its own lcore.
        unsafe { sys::dpdk_sys_mempool_flush(self.as_ptr()) };
    }

    /// Whether the mbufs have their buffers in memory of the program. Such mbufs cannot refer to other data.
    pub(crate) fn is_pinned(&self) -> bool {
        self.handle.memory.is_some()
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut sys::rte_mempool {
        self.handle.pool.as_ptr()
    }

    pub(crate) fn environment(&self) -> &Environment {
        &self.handle.eal
    }

    pub(crate) const fn handle(&self) -> &Arc<PoolHandle> {
        &self.handle
    }
}

impl<P: PrivateData> fmt::Debug for Mempool<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mempool").field("size", &self.size()).field("available", &self.available()).finish()
    }
}
