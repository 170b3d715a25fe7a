// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How a pool is to be made.

use super::{MOST_OBJECTS, Mempool, MempoolError, PrivateData, SocketId};
use crate::{Eal, Errno, eal::Environment};
use core::{
    ffi::{CStr, c_char},
    fmt,
    marker::PhantomData,
    ptr::{self, NonNull},
};
use dpdk_sys as sys;
use std::{ffi::CString, sync::Arc};

/// How a pool keeps its free mbufs: DPDK's mempool drivers, those that any thread may use. Those for a single producer or
/// consumer (`ring_sp_sc` and its like) are not among them, since packets may be dropped on any thread; nor is `bucket`, which does
/// not look whether the calling thread is an lcore; nor `ring_mt_rts`, which loses mbufs: its ring has no room for one that was taken
/// out while another thread is still taking, and DPDK does not look whether giving back has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PoolDriver {
    /// `ring_mp_mc`: a ring, from which the mbuf comes that was not used for the longest time. What DPDK takes by itself.
    RingMpMc,
    /// `ring_mt_hts`: a ring for more threads than processors, which lets one thread in at a time.
    RingHts,
    /// `stack`: a stack with a lock, from which the mbuf comes that was used last and may be in a cache of the processor.
    Stack,
    /// `lf_stack`: a stack without a lock, where the processor can compare and exchange 16 bytes.
    LockFreeStack,
}

impl PoolDriver {
    const fn c_name(self) -> &'static CStr {
        match self {
            Self::RingMpMc => c"ring_mp_mc",
            Self::RingHts => c"ring_mt_hts",
            Self::Stack => c"stack",
            Self::LockFreeStack => c"lf_stack",
        }
    }
}

impl fmt::Display for PoolDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.c_name().to_string_lossy())
    }
}

/// Describes a [`Mempool`]; made by [`Mempool::builder`].
#[derive(Clone, Debug)]
#[must_use = "a pool is made by `build`"]
pub struct MempoolBuilder<P: PrivateData = ()> {
    pub(super) name: String,
    pub(super) size: u32,
    /// The default depends on the size.
    cache: Option<u32>,
    pub(super) data_room: u16,
    pub(super) socket: SocketId,
    pub(super) driver: Option<PoolDriver>,
    private: PhantomData<P>,
}

impl<P: PrivateData> MempoolBuilder<P> {
    pub(super) const fn new(name: String) -> Self {
        Self {
            name,
            size: 8191,
            cache: None,
            data_room: sys::RTE_MBUF_DEFAULT_BUF_SIZE as u16,
            socket: SocketId::ANY,
            driver: None,
            private: PhantomData,
        }
    }

    /// How many mbufs, less than 2^30; 8191 unless set. One less than a power of two uses memory best.
    pub const fn size(mut self, mbufs: u32) -> Self {
        self.size = mbufs;
        self
    }

    /// How many mbufs each lcore keeps to itself, at most 512, and at most two thirds of the pool; 256 unless set, and an
    /// eighth of a pool of fewer than 384, so that several lcores share it. For other threads there is
    /// [`Mempool::thread_cache`].
    pub const fn cache(mut self, mbufs: u32) -> Self {
        self.cache = Some(mbufs);
        self
    }

    pub(super) fn cache_of_size(&self) -> u32 {
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

    /// How the pool keeps its free mbufs; unless set, as DPDK likes best: in a ring, or as the EAL was told
    /// (`--mbuf-pool-ops-name`).
    #[doc(alias = "rte_mempool_set_ops_byname")]
    #[doc(alias = "rte_pktmbuf_pool_create_by_ops")]
    pub const fn driver(mut self, driver: PoolDriver) -> Self {
        self.driver = Some(driver);
        self
    }

    /// Makes the pool.
    ///
    /// # Errors
    /// [`MempoolError::Name`], [`MempoolError::Create`], [`MempoolError::NoDriver`] or [`MempoolError::Forked`].
    #[doc(alias = "rte_pktmbuf_pool_create")]
    pub fn build(self, eal: &Eal) -> Result<Mempool<P>, MempoolError> {
        let driver = self.driver.map(PoolDriver::c_name);
        if let Some((driver, name)) = self.driver.zip(driver) {
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`; the call compares strings with those of a table that
            // does not change any more.
            if unsafe { sys::dpdk_sys_mempool_driver_known(name.as_ptr()) } == 0 {
                return Err(MempoolError::NoDriver { name: self.name, driver });
            }
        }
        let environment = eal.environment();
        let private_len = Mempool::<P>::PRIVATE_LEN;
        let pool = self.create(environment, |name| {
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call
            // copies the name, and looks the driver's name up.
            unsafe {
                sys::dpdk_sys_pktmbuf_pool_create(
                    name,
                    self.size,
                    self.cache_of_size(),
                    private_len,
                    self.data_room,
                    self.socket.get(),
                    driver.map_or(ptr::null(), CStr::as_ptr),
                )
            }
        })?;
        // SAFETY: the pool is new, and of the numbers that it was made with.
        Ok(unsafe { Mempool::of_own(pool, (self.size, self.data_room), None, false, environment) })
    }

    /// Has `make` make a pool, with the control plane locked. Null is a failure, for which `rte_errno` is the reason.
    pub(super) fn create(
        &self,
        environment: &Arc<Environment>,
        make: impl FnOnce(*const c_char) -> *mut sys::rte_mempool,
    ) -> Result<NonNull<sys::rte_mempool>, MempoolError> {
        let Some(name) = CString::new(self.name.as_str()).ok().filter(|_| self.name.is_ascii()) else {
            return Err(MempoolError::Name(self.name.clone()));
        };
        if environment.is_forked() {
            return Err(MempoolError::Forked(self.name.clone()));
        }
        let failed =
            |errno| MempoolError::Create { name: self.name.clone(), size: self.size, socket: self.socket, errno };
        if self.size > MOST_OBJECTS {
            return Err(failed(Errno::new(sys::EINVAL.cast_signed())));
        }
        // What a former pool of this name held may have come back since.
        let _control = environment.control_with_room();
        NonNull::new(make(name.as_ptr())).ok_or_else(|| failed(Errno::last()))
    }
}
