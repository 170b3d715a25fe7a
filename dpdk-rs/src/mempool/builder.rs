// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The builder of pools.

use super::{LONGEST_NAME, MOST_OBJECTS, Mempool, MempoolError, PoolDriver, PrivateData, SocketId};
use crate::{Eal, Errno, environment::Environment, name};
use core::{
    ffi::{CStr, c_char},
    marker::PhantomData,
    ptr::{self, NonNull},
};
use dpdk_sys as sys;
use std::sync::Arc;

/// The description of a [`Mempool`], from [`Mempool::builder`].
#[derive(Clone, Debug)]
#[must_use = "a pool is made by `build`"]
pub struct MempoolBuilder<P: PrivateData = ()> {
    pub(super) name: String,
    pub(super) size: u32,
    /// `None` stands for a default that depends on the size.
    cache: Option<u32>,
    pub(super) data_room: u16,
    pub(super) socket: SocketId,
    pub(super) driver: Option<PoolDriver>,
    private: PhantomData<P>,
}

impl<P: PrivateData> Mempool<P> {
    /// Starts the description of a pool. `name` has at most 22 bytes and is unique among the pools of the
    /// process.
    pub fn builder(name: impl Into<String>) -> MempoolBuilder<P> {
        MempoolBuilder::new(name.into())
    }
}

impl<P: PrivateData> MempoolBuilder<P> {
    const fn new(name: String) -> Self {
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

    /// The number of mbufs, at most 2^27. Default: 8,191. One less than a power of two uses memory best.
    pub const fn size(mut self, mbufs: u32) -> Self {
        self.size = mbufs;
        self
    }

    /// The number of mbufs in each lcore's cache, at most 512 and at most two thirds of the pool. Default: 256, or an
    /// eighth of a pool of fewer than 384 mbufs, so that several lcores can share it. Other threads can use a
    /// [`Mempool::thread_cache`].
    pub const fn cache(mut self, mbufs: u32) -> Self {
        self.cache = Some(mbufs);
        self
    }

    pub(super) fn cache_of_size(&self) -> u32 {
        // DPDK rejects a cache that holds more than the pool when it is filled to one and a half times its size.
        self.cache.unwrap_or(if self.size < 384 { self.size / 8 } else { 256 })
    }

    /// The size of an mbuf's buffer in bytes, including the headroom of 128. Default: 2,176.
    pub const fn data_room(mut self, bytes: u16) -> Self {
        self.data_room = bytes;
        self
    }

    /// The NUMA node for the pool's memory. Default: any.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// How the pool stores its free mbufs. Default: DPDK's choice, which is a ring or the driver of
    /// `--mbuf-pool-ops-name`.
    #[doc(alias = "rte_mempool_set_ops_byname")]
    #[doc(alias = "rte_pktmbuf_pool_create_by_ops")]
    pub const fn driver(mut self, driver: PoolDriver) -> Self {
        self.driver = Some(driver);
        self
    }

    /// Creates the pool.
    ///
    /// # Errors
    /// [`MempoolError::Name`], [`MempoolError::Create`], [`MempoolError::NoDriver`] or [`MempoolError::Forked`].
    #[doc(alias = "rte_pktmbuf_pool_create")]
    pub fn build(self, eal: &Eal) -> Result<Mempool<P>, MempoolError> {
        let driver = self.driver.map(PoolDriver::c_name);
        if let Some((driver, name)) = self.driver.zip(driver) {
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`. The call compares strings with those of
            // a table that no longer changes.
            if unsafe { sys::dpdk_sys_mempool_driver_known(name.as_ptr()) } == 0 {
                return Err(MempoolError::NoDriver { name: self.name, driver });
            }
        }
        let environment = eal.environment();
        let private_len = Mempool::<P>::PRIVATE_LEN;
        let pool = self.create(environment, |name| {
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked. The
            // call copies the name and looks up the driver's name.
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
        // SAFETY: the pool is new and was created with these numbers.
        Ok(unsafe { Mempool::of_own(pool, (self.size, self.data_room), None, false, environment) })
    }

    /// Calls `make` to create a pool, with the control plane locked. Null means failure, with the reason in
    /// `rte_errno`.
    pub(super) fn create(
        &self,
        environment: &Arc<Environment>,
        make: impl FnOnce(*const c_char) -> *mut sys::rte_mempool,
    ) -> Result<NonNull<sys::rte_mempool>, MempoolError> {
        let Some(name) = name::to_dpdk(&self.name, LONGEST_NAME).filter(|_| self.name.is_ascii()) else {
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
        // The mbufs of a retired pool of this name may have returned since.
        let _control = environment.control_with_room();
        NonNull::new(make(name.as_ptr())).ok_or_else(|| failed(Errno::last()))
    }
}
