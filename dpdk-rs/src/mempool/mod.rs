// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Pools of mbufs.

mod builder;
mod cache;
mod error;
mod memory;

pub use builder::{MempoolBuilder, PoolDriver};
pub use cache::PoolCache;
pub use error::MempoolError;

use crate::{
    Burst, Packet,
    eal::{Environment, PoolMemory, RawPool},
    lcore::LcoreId,
};
use core::{
    fmt,
    marker::PhantomData,
    mem::{self, ManuallyDrop},
    ptr::NonNull,
};
use dpdk_sys as sys;
use std::sync::Arc;

/// What a pool's mbufs can hold in their private area: plain bytes of any pattern (`bytemuck::Pod`).
///
/// At most 65,528 bytes, aligned to at most 8: both are checked when the pool's type is compiled. The bound `Pod` makes
/// a packet harmless whose area was last written under another type, which a device may hand back.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the private data of packets",
    label = "not plain bytes",
    note = "private data is `bytemuck::Pod`: fixed in size, without pointers, padding or invalid values",
    note = "for a struct of your own: `#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]` and `#[repr(C)]`"
)]
pub trait PrivateData: bytemuck::Pod + Send + Sync {}

#[diagnostic::do_not_recommend]
impl<T: bytemuck::Pod + Send + Sync> PrivateData for T {}

/// The most objects of a pool: one less than there are places in DPDK's largest ring. From 2^31 on DPDK's count of the places
/// turns to 0, and it writes the pool's objects behind a ring that has none.
pub(crate) const MOST_OBJECTS: u32 = (1 << 30) - 1;

/// A NUMA node, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SocketId(i32);

impl SocketId {
    /// Any node (`SOCKET_ID_ANY`).
    pub const ANY: Self = Self(sys::SOCKET_ID_ANY);

    /// Node 0, the only one of most machines.
    pub const FIRST: Self = Self(0);

    pub(crate) const fn new(id: i32) -> Self {
        Self(id)
    }

    /// The number; -1 for [`SocketId::ANY`].
    #[must_use]
    pub const fn get(self) -> i32 {
        self.0
    }
}

impl fmt::Display for SocketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A pool of mbufs, with a private area of type `P` in each.
///
/// A clone is another handle of the same pool. Ports keep the pools of their queues alive, and packets may outlive every
/// handle: the memory is given back once all mbufs have returned, checked when the last handle is dropped, when another
/// pool is made, when an [`lcore::scope`](crate::lcore::scope) ends, when the [`Eal`](crate::Eal) is dropped and when it is
/// cleaned up.
#[doc(alias = "rte_mempool")]
pub struct Mempool<P: PrivateData = ()> {
    handle: Arc<PoolHandle>,
    private: PhantomData<P>,
}

/// Shared by the handles of one pool, and by the ports that receive into it.
pub(crate) struct PoolHandle {
    pub(crate) pool: RawPool,
    eal: Arc<Environment>,
    size: u32,
    pub(crate) data_room: u16,
    /// What the mbufs' buffers lie in, if not in the mbufs: dropped after the pool.
    memory: PoolMemory,
    /// Whether that is not all DPDK's.
    outside: bool,
    /// An mbuf of a pool that another process has made: as long as it is missing, that one does not free the pool.
    kept: Option<Kept>,
}

/// An mbuf that nobody uses.
struct Kept(NonNull<sys::rte_mbuf>);

// SAFETY: nothing is done with the mbuf but that its only owner frees it, which DPDK lets any thread do.
unsafe impl Send for Kept {}
// SAFETY: a shared `Kept` gives no access to the mbuf at all.
unsafe impl Sync for Kept {}

impl Drop for PoolHandle {
    fn drop(&mut self) {
        match self.kept.take() {
            // SAFETY: the mbuf is this handle's own, and not used after its drop.
            Some(kept) if !self.eal.is_forked() => unsafe { sys::rte_pktmbuf_free(kept.0.as_ptr()) },
            Some(_) => (),
            None => self.eal.retire_pool(self.pool, mem::take(&mut self.memory)),
        }
    }
}

impl PoolHandle {
    /// Whether the memory that the mbufs' buffers lie in is not all DPDK's; `None` if they lie in the mbufs.
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

    /// Starts to describe a pool. The name is the process's own: two pools cannot share one.
    pub fn builder(name: impl Into<String>) -> MempoolBuilder<P> {
        MempoolBuilder::new(name.into())
    }

    /// A new pool, with what the buffers of its mbufs lie in, if that is not the pool, and whether that is not DPDK's.
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
        let (pool, eal, memory) = (RawPool::new(pool), Arc::clone(eal), ManuallyDrop::new(memory));
        let handle = PoolHandle { pool, eal, size, data_room, memory, outside, kept: None };
        Self { handle: Arc::new(handle), private: PhantomData }
    }

    /// A pool that another process has made, of which `kept` is an mbuf that nobody else owns.
    ///
    /// # Safety
    /// The pool is live as long as `kept` is not back in it, and of `size` mbufs with `data_room` bytes and a private area for
    /// a `P` each.
    pub(crate) unsafe fn of_other(
        pool: NonNull<sys::rte_mempool>,
        kept: NonNull<sys::rte_mbuf>,
        (size, data_room): (u32, u16),
        eal: Arc<Environment>,
    ) -> Self {
        let (pool, kept, memory) = (RawPool::new(pool), Some(Kept(kept)), ManuallyDrop::new(None));
        let handle = PoolHandle { pool, eal, size, data_room, memory, outside: false, kept };
        Self { handle: Arc::new(handle), private: PhantomData }
    }

    /// An empty packet, with the default headroom; `None` if the pool is exhausted.
    #[doc(alias = "rte_pktmbuf_alloc")]
    #[inline]
    #[must_use]
    pub fn alloc(&self) -> Option<Packet<P>> {
        // SAFETY: the pool is live as long as this handle, and DPDK lets any thread allocate.
        let mbuf = NonNull::new(unsafe { sys::rte_pktmbuf_alloc(self.as_ptr()) })?;
        // SAFETY: the mbuf is fresh, so nobody else owns it, and `build` gave its pool a private area for a `P`.
        Some(unsafe { Packet::from_mbuf(mbuf) })
    }

    /// Fills what room `burst` has with empty packets: all of it, or none if the pool does not hold as many.
    ///
    /// Returns how many were added.
    #[doc(alias = "rte_pktmbuf_alloc_bulk")]
    #[inline]
    pub fn alloc_bulk<const N: usize>(&self, burst: &mut Burst<P, N>) -> usize {
        self.alloc_bulk_up_to(burst, N)
    }

    /// Adds `most` empty packets to `burst`, or as many as it has room for; none if the pool does not hold as many.
    ///
    /// Returns how many were added.
    #[doc(alias = "rte_pktmbuf_alloc_bulk")]
    #[inline]
    pub fn alloc_bulk_up_to<const N: usize>(&self, burst: &mut Burst<P, N>, most: usize) -> usize {
        let held = burst.len();
        let room = burst.spare();
        let wanted = room.len().min(most);
        let Ok(count) = u32::try_from(wanted) else {
            return 0;
        };
        // SAFETY: the pool is live as long as this handle, DPDK lets any thread allocate, and `room` is at least
        // `count` pointers long.
        if count == 0 || unsafe { sys::rte_pktmbuf_alloc_bulk(self.as_ptr(), room.as_mut_ptr().cast(), count) } != 0 {
            return 0;
        }
        // SAFETY: the call succeeded, so it wrote all `wanted` pointers: fresh mbufs that nobody else owns, and `build`
        // gave their pool a private area for a `P`.
        unsafe { burst.set_len(held + wanted) };
        wanted
    }

    /// How many mbufs the pool has.
    #[must_use]
    pub fn size(&self) -> usize {
        self.handle.size as usize
    }

    /// The bytes of an mbuf's buffer, headroom included.
    #[must_use]
    pub fn data_room(&self) -> usize {
        usize::from(self.handle.data_room)
    }

    /// How many mbufs are free, per-lcore caches included. Slow: for tests and statistics.
    #[doc(alias = "rte_mempool_avail_count")]
    #[must_use]
    pub fn available(&self) -> usize {
        // SAFETY: the pool is live as long as this handle; the call only counts.
        unsafe { sys::rte_mempool_avail_count(self.as_ptr()) as usize }
    }

    /// How many of the free mbufs an lcore keeps to itself ([`MempoolBuilder::cache`]), as of now: others cannot have them. For
    /// statistics.
    #[doc(alias = "rte_mempool_cache")]
    #[must_use]
    pub fn cached(&self, lcore: LcoreId) -> usize {
        // SAFETY: the pool is live as long as this handle; the call compares the number, and reads a count.
        unsafe { sys::dpdk_sys_mempool_cached(self.as_ptr(), lcore.get()) as usize }
    }

    /// Gives the mbufs that the calling lcore keeps to itself to the others, for instance before it polls no more. Nothing on a
    /// thread that is no lcore.
    #[doc(alias = "rte_mempool_cache_flush")]
    pub fn flush_cache(&self) {
        // SAFETY: the pool is live as long as this handle, and only the calling thread uses the cache of its own lcore.
        unsafe { sys::dpdk_sys_mempool_flush(self.as_ptr()) };
    }

    /// Whether the mbufs have their buffers in memory of the program, for ever: they cannot refer to other data.
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
