// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Caches for threads that are not lcores.

use super::{Mempool, MempoolError, PoolHandle, PrivateData, SocketId};
use crate::{Burst, Errno, Packet};
use core::{fmt, marker::PhantomData, mem, ptr::NonNull};
use dpdk_sys as sys;
use std::sync::Arc;

/// A cache of a pool's free mbufs for one thread that is not an lcore. An lcore has a cache of its own
/// ([`MempoolBuilder::cache`](super::MempoolBuilder::cache)), which [`Mempool::alloc`] and drops use. On another thread
/// each allocation and each drop accesses the part of the pool that all threads share; with this cache, few of them do.
///
/// Nobody else can allocate the mbufs in this cache, and they count as in use ([`Mempool::available`]). They return to
/// the pool when the cache is flushed or dropped. The cache keeps the pool alive.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// use dpdk_rs::{Burst, Mempool};
///
/// let pool: Mempool = Mempool::builder("pool").build(&eal)?;
/// let mut cache = pool.thread_cache(256)?;
/// std::thread::spawn(move || {
///     let mut burst = Burst::<(), 32>::new();
///     cache.alloc_bulk(&mut burst);
///     // …
///     cache.free_bulk(&mut burst);
/// });
/// # Ok(())
/// # }
/// ```
#[doc(alias = "rte_mempool_cache")]
pub struct PoolCache<P: PrivateData = ()> {
    cache: NonNull<sys::rte_mempool_cache>,
    pool: Arc<PoolHandle>,
    private: PhantomData<P>,
}

// SAFETY: only this object uses the cache, and DPDK lets any thread use it, one at a time.
unsafe impl<P: PrivateData> Send for PoolCache<P> {}
// SAFETY: through a shared reference the cache is only read. Whoever changes it borrows it exclusively.
unsafe impl<P: PrivateData> Sync for PoolCache<P> {}

impl<P: PrivateData> Mempool<P> {
    /// Creates a cache for a thread that is not an lcore. It holds up to one and a half times `mbufs`, which is a
    /// number from 1 to 512. It starts empty.
    ///
    /// # Errors
    /// [`MempoolError::Cache`] for another number or without memory, [`MempoolError::Forked`] in a child process
    /// created by `fork`.
    #[doc(alias = "rte_mempool_cache_create")]
    pub fn thread_cache(&self, mbufs: u32) -> Result<PoolCache<P>, MempoolError> {
        if self.environment().is_forked() {
            return Err(MempoolError::Forked(String::new()));
        }
        // SAFETY: the EAL is initialised, since there is a pool. The call allocates from DPDK's heap, which has a lock.
        let cache = unsafe { sys::rte_mempool_cache_create(mbufs, SocketId::ANY.get()) };
        let cache = NonNull::new(cache).ok_or_else(|| MempoolError::Cache { mbufs, errno: Errno::last() })?;
        Ok(PoolCache { cache, pool: Arc::clone(self.handle()), private: PhantomData })
    }
}

impl<P: PrivateData> PoolCache<P> {
    /// Allocates an empty packet with the default headroom; `None` if neither the cache nor the pool has an mbuf.
    #[doc(alias = "rte_mempool_generic_get")]
    #[inline]
    #[must_use]
    pub fn alloc(&mut self) -> Option<Packet<P>> {
        let mut burst = Burst::<P, 1>::new();
        self.alloc_bulk(&mut burst);
        burst.pop()
    }

    /// Fills the free room of `burst` with empty packets, or adds none if the cache and the pool together have too few
    /// mbufs.
    ///
    /// Returns how many packets were added.
    #[doc(alias = "rte_mempool_generic_get")]
    #[inline]
    pub fn alloc_bulk<const N: usize>(&mut self, burst: &mut Burst<P, N>) -> usize {
        let held = burst.len();
        let room = burst.spare();
        let wanted = room.len();
        let Ok(count) = u32::try_from(wanted) else {
            return 0;
        };
        if count == 0 {
            return 0;
        }
        let mbufs = room.as_mut_ptr().cast();
        // SAFETY: the pool is live as long as its handle, the cache is of this pool and borrowed exclusively, and `room` is `count`
        // pointers long.
        let result =
            unsafe { sys::dpdk_sys_pktmbuf_alloc_cached(self.pool.pool.as_ptr(), self.cache.as_ptr(), mbufs, count) };
        if result != 0 {
            return 0;
        }
        // SAFETY: the call succeeded, so it wrote all `wanted` pointers: new mbufs that nobody else owns, from a pool
        // with a private area for a `P`.
        unsafe { burst.set_len(held + wanted) };
        wanted
    }

    /// Drops a packet. Its mbufs that belong to this pool, and that nobody else refers to, go into the cache.
    #[doc(alias = "rte_mempool_generic_put")]
    #[inline]
    pub fn free<Q: PrivateData>(&mut self, packet: Packet<Q>) {
        let mut mbuf = packet.head().mbuf().as_ptr();
        mem::forget(packet);
        // SAFETY: the packet gave up its chain. The pool lives as long as its handle, and the cache belongs to this
        // pool and is borrowed exclusively.
        unsafe { sys::dpdk_sys_pktmbuf_free_cached(self.pool.pool.as_ptr(), self.cache.as_ptr(), &raw mut mbuf, 1) };
    }

    /// Drops all packets of `burst`, each as [`Self::free`] does.
    #[doc(alias = "rte_mempool_generic_put")]
    #[inline]
    pub fn free_bulk<Q: PrivateData, const N: usize>(&mut self, burst: &mut Burst<Q, N>) {
        let (mbufs, count) = burst.give_up_all();
        let (pool, cache) = (self.pool.pool.as_ptr(), self.cache.as_ptr());
        // SAFETY: the burst gave up these `count` chains. The pool lives as long as its handle, and the cache belongs
        // to this pool and is borrowed exclusively.
        unsafe { sys::dpdk_sys_pktmbuf_free_cached(pool, cache, mbufs, count) };
    }

    /// Returns all mbufs in the cache to the pool.
    #[doc(alias = "rte_mempool_cache_flush")]
    pub fn flush(&mut self) {
        // SAFETY: the pool is live as long as its handle, and the cache is of this pool and borrowed exclusively.
        unsafe { sys::dpdk_sys_mempool_cache_flush(self.pool.pool.as_ptr(), self.cache.as_ptr()) };
    }

    /// The number of free mbufs in the cache.
    #[must_use]
    pub fn len(&self) -> usize {
        // SAFETY: the cache is live as long as this object; the call reads a count.
        unsafe { sys::dpdk_sys_mempool_cache_len(self.cache.as_ptr()) as usize }
    }

    /// Whether the cache has no mbufs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<P: PrivateData> Drop for PoolCache<P> {
    fn drop(&mut self) {
        if self.pool.eal.is_forked() {
            return;
        }
        self.flush();
        // SAFETY: only this object uses the cache, it is being dropped, and the cache is empty.
        unsafe { sys::rte_mempool_cache_free(self.cache.as_ptr()) };
    }
}

impl<P: PrivateData> fmt::Debug for PoolCache<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PoolCache").field("len", &self.len()).finish_non_exhaustive()
    }
}
