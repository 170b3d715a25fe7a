// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Pools of mbufs.

use crate::{
    Burst, Eal, Errno, Packet,
    eal::{Environment, RawPool},
};
use core::{fmt, marker::PhantomData, ptr::NonNull};
use dpdk_sys as sys;
use std::{ffi::CString, sync::Arc};

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

/// Why a pool was not made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MempoolError {
    /// The name has a NUL byte, or a character that is not ASCII, which DPDK's telemetry reads wrong.
    #[error("pool name {0:?} cannot be used: give ASCII characters, and no NUL byte")]
    Name(String),
    /// A child made by `fork` cannot make pools: DPDK's memory is its parent's.
    #[error("cannot create pool '{0}': this process is a fork of the one that initialized the EAL")]
    Forked(String),
    /// `rte_pktmbuf_pool_create` failed.
    #[error("cannot create pool '{name}' of {size} mbufs{}: {errno}{}", place(*socket), remedy(*errno))]
    Create {
        /// The pool's name.
        name: String,
        /// Mbufs asked for.
        size: u32,
        /// Where.
        socket: SocketId,
        /// `EEXIST` for a name in use, `ENOMEM` without enough hugepages, `EINVAL` for a size of 2^30 or more or a cache larger
        /// than allowed, …
        errno: Errno,
    },
}

/// Where, in words; nothing for any NUMA node.
fn place(socket: SocketId) -> String {
    if socket == SocketId::ANY { String::new() } else { format!(" on socket {socket}") }
}

/// What to do about an error, in words.
fn remedy(errno: Errno) -> &'static str {
    match errno.get() {
        22 => ": give at least 1 mbuf, and a cache of at most 512 and of two thirds of them",
        36 => ": give a shorter name",
        _ => errno.remedy(),
    }
}

impl MempoolError {
    /// DPDK's error, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Create { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Create { .. } = self { Some("rte_pktmbuf_pool_create") } else { None }
    }
}

/// A pool of mbufs, with a private area of type `P` in each.
///
/// A clone is another handle of the same pool. Ports keep the pools of their queues alive, and packets may outlive every
/// handle: the memory is given back once all mbufs have returned, checked when the last handle is dropped, when another
/// pool is made, when an [`lcore::scope`](crate::lcore::scope) ends and when the EAL is cleaned up.
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
            None => self.eal.retire_pool(self.pool),
        }
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
        MempoolBuilder {
            name: name.into(),
            size: 8191,
            cache: None,
            data_room: sys::RTE_MBUF_DEFAULT_BUF_SIZE as u16,
            socket: SocketId::ANY,
            private: PhantomData,
        }
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
        let handle = PoolHandle { pool: RawPool::new(pool), eal, size, data_room, kept: Some(Kept(kept)) };
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

/// Describes a [`Mempool`]; made by [`Mempool::builder`].
#[derive(Clone, Debug)]
#[must_use = "a pool is made by `build`"]
pub struct MempoolBuilder<P: PrivateData = ()> {
    name: String,
    size: u32,
    /// The default depends on the size.
    cache: Option<u32>,
    data_room: u16,
    socket: SocketId,
    private: PhantomData<P>,
}

impl<P: PrivateData> MempoolBuilder<P> {
    /// How many mbufs, less than 2^30; 8191 unless set. One less than a power of two uses memory best.
    pub const fn size(mut self, mbufs: u32) -> Self {
        self.size = mbufs;
        self
    }

    /// How many mbufs each lcore keeps to itself, at most 512, and at most two thirds of the pool; 256 unless set, and an
    /// eighth of a pool of fewer than 384, so that several lcores share it.
    pub const fn cache(mut self, mbufs: u32) -> Self {
        self.cache = Some(mbufs);
        self
    }

    fn cache_of_size(&self) -> u32 {
        // DPDK refuses a cache which, filled to one and a half times its size, is larger than the pool.
        self.cache.unwrap_or(if self.size < 384 { self.size / 8 } else { 256 })
    }

    /// The bytes of an mbuf's buffer, headroom (128) included; 2,176 unless set.
    pub const fn data_room(mut self, bytes: u16) -> Self {
        self.data_room = bytes;
        self
    }

    /// The NUMA node whose memory to use; any unless set.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Makes the pool.
    ///
    /// # Errors
    /// [`MempoolError::Name`], [`MempoolError::Create`] or [`MempoolError::Forked`].
    #[doc(alias = "rte_pktmbuf_pool_create")]
    pub fn build(self, eal: &Eal) -> Result<Mempool<P>, MempoolError> {
        let Some(name) = CString::new(self.name.as_str()).ok().filter(|_| self.name.is_ascii()) else {
            return Err(MempoolError::Name(self.name));
        };
        let environment = eal.environment();
        if environment.is_forked() {
            return Err(MempoolError::Forked(self.name));
        }
        if self.size > MOST_OBJECTS {
            let errno = Errno::new(sys::EINVAL.cast_signed());
            return Err(MempoolError::Create { name: self.name, size: self.size, socket: self.socket, errno });
        }
        // What a former pool of this name held may have come back since.
        let _control = environment.control_with_room();
        // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call
        // copies the name.
        let pool = unsafe {
            sys::dpdk_sys_pktmbuf_pool_create(
                name.as_ptr(),
                self.size,
                self.cache_of_size(),
                Mempool::<P>::PRIVATE_LEN,
                self.data_room,
                self.socket.get(),
            )
        };
        match NonNull::new(pool) {
            Some(pool) => Ok(Mempool {
                handle: Arc::new(PoolHandle {
                    pool: RawPool::new(pool),
                    eal: Arc::clone(environment),
                    size: self.size,
                    data_room: self.data_room,
                    kept: None,
                }),
                private: PhantomData,
            }),
            None => Err(MempoolError::Create {
                name: self.name,
                size: self.size,
                socket: self.socket,
                errno: Errno::last(),
            }),
        }
    }
}
