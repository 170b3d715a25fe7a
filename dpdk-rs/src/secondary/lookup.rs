// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Finding objects of the primary process by name.

use super::Secondary;
use crate::{
    Mempool, PrivateData, Ring,
    memory::{self, MemzoneInfo},
    name,
    object::Handle,
    ring::{Consumer, Producer, process_shared::ProcessShared},
};
use core::ptr::NonNull;
use dpdk_sys as sys;
use std::{ffi::CString, sync::Arc};

/// Why an object was not found, or cannot be used by this process.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// The name contains a NUL byte.
    #[error("{kind} name {name:?} contains a NUL byte")]
    Name {
        /// The kind of object: `pool` or `ring`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// No object of this kind has this name.
    #[error("there is no {kind} '{name}': the primary process has not created it yet, or used another name")]
    Missing {
        /// The kind of object: `pool` or `ring`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A child process created by `fork` finds nothing: DPDK's memory is mapped for its parent.
    #[error("cannot look for {kind} '{name}': this process is a fork of the one that attached")]
    Forked {
        /// The kind of object: `pool` or `ring`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// The pool has other objects than packets, or packets with external buffers.
    #[error("pool '{0}' does not consist of packets whose data follows their mbufs")]
    NotPackets(String),
    /// The pool's driver cannot be shared, or this process has another driver under its number.
    #[error(
        "pool '{0}': its driver is not one for several processes (ring_mp_mc, ring_mt_rts or ring_mt_hts), or this process has \
         another one under its number: build and link both processes in the same way, and give both the same -d"
    )]
    Driver(String),
    /// No mbuf is free in the pool. A handle needs one.
    #[error("pool '{0}' is exhausted: a handle in another process needs one of its mbufs")]
    Exhausted(String),
    /// The private area of the pool's mbufs is smaller than the type.
    #[error("pool '{name}' has {has} bytes of private data in each mbuf, but the requested type has {asked}")]
    PrivateLen {
        /// The name of the pool.
        name: String,
        /// The size of the requested type in bytes.
        asked: u16,
        /// The size of the pool's private area in bytes.
        has: u16,
    },
    /// The size of the ring's memory does not match elements of this type.
    #[error("ring '{name}' does not have elements of {len} bytes: request the type with which it was created")]
    ElementLength {
        /// The name of the ring.
        name: String,
        /// The size of the requested type in bytes.
        len: usize,
    },
    /// The ring was created for a single producer or a single consumer.
    #[error("ring '{name}' has only one {end}: take one end, with Secondary::producer or Secondary::consumer")]
    OneEnd {
        /// The name of the ring.
        name: String,
        /// `producer` or `consumer`.
        end: &'static str,
    },
}

impl Secondary {
    /// Finds a pool of packets by its name. The handle keeps one of the pool's mbufs: a primary process that uses this
    /// crate does not free a pool before all mbufs are back.
    ///
    /// # Errors
    /// [`LookupError::Missing`], [`LookupError::NotPackets`], [`LookupError::Driver`], [`LookupError::PrivateLen`] if the
    /// pool's private area is smaller than a `P`, [`LookupError::Exhausted`], [`LookupError::Name`] or [`LookupError::Forked`].
    #[doc(alias = "rte_mempool_lookup")]
    pub fn pool<P: PrivateData>(&self, name: &str) -> Result<Mempool<P>, LookupError> {
        let mut found = sys::dpdk_sys_pool::default();
        for c_name in self.names("pool", name)? {
            // SAFETY: the EAL is initialised, since there is a `Secondary`; the call compares the name with others under a lock
            // of its own, and fills a struct of ours.
            unsafe { sys::dpdk_sys_pool_find(c_name.as_ptr(), &raw mut found) };
            if found.state != sys::DPDK_SYS_POOL_MISSING {
                break;
            }
        }
        let (Some(pool), Some(kept)) = (NonNull::new(found.pool), NonNull::new(found.kept)) else {
            let name = name.to_owned();
            return Err(match found.state {
                sys::DPDK_SYS_POOL_OTHER => LookupError::NotPackets(name),
                sys::DPDK_SYS_POOL_DRIVER => LookupError::Driver(name),
                sys::DPDK_SYS_POOL_EXHAUSTED => LookupError::Exhausted(name),
                _ => LookupError::Missing { kind: "pool", name },
            });
        };
        let asked = Mempool::<P>::PRIVATE_LEN;
        if found.private_len < asked {
            // SAFETY: the mbuf was taken out of the pool for this call, and nobody else has it.
            unsafe { sys::rte_pktmbuf_free(kept.as_ptr()) };
            return Err(LookupError::PrivateLen { name: name.to_owned(), asked, has: found.private_len });
        }
        let size = (found.size, found.data_room);
        // SAFETY: the pool consists of packets with this data room and size, and has a private area for a `P`, as was
        // checked. The caller of `attach` promised that nobody frees it while it is used, which `kept` shows to other
        // processes.
        Ok(unsafe { Mempool::of_other(pool, kept, size, Arc::clone(&self.environment)) })
    }

    /// Finds a ring for several producers and consumers by its name.
    ///
    /// # Errors
    /// [`LookupError::Missing`], [`LookupError::ElementLength`], [`LookupError::OneEnd`], [`LookupError::Name`] or
    /// [`LookupError::Forked`].
    ///
    /// # Safety
    /// In all processes the ring's elements are `T`s; if they are packets, their mbufs have a private area for the
    /// packets' type. The ring is not freed as long as a handle lives: the primary process has
    /// [shared](crate::ring::RingBuilder::shared) it.
    #[doc(alias = "rte_ring_lookup")]
    pub unsafe fn ring<T: ProcessShared>(&self, name: &str) -> Result<Ring<T>, LookupError> {
        // SAFETY: the caller promises that the ring stays.
        let (ring, found) = unsafe { self.find_ring::<T>(name) }?;
        for (several, end) in [(found.several_producers, "producer"), (found.several_consumers, "consumer")] {
            if several == 0 {
                return Err(LookupError::OneEnd { name: name.to_owned(), end });
            }
        }
        // SAFETY: the caller promises elements of this type in a ring that is not freed. The ring was created for
        // several producers and consumers, as was checked.
        Ok(unsafe { Ring::of_other(ring, found.capacity) })
    }

    /// Finds a ring by its name, and returns its producing end.
    ///
    /// # Errors
    /// [`LookupError::Missing`], [`LookupError::ElementLength`], [`LookupError::Name`] or [`LookupError::Forked`].
    ///
    /// # Safety
    /// In all processes the ring's elements are `T`s; if they are packets, their mbufs have a private area for the
    /// packets' type. The ring is not freed as long as the result lives: the primary process has
    /// [shared](crate::ring::RingBuilder::shared) it. Nobody else enqueues in that time, in any process, unless the
    /// ring was created for several producers.
    #[doc(alias = "rte_ring_lookup")]
    pub unsafe fn producer<T: ProcessShared>(&self, name: &str) -> Result<Producer<T>, LookupError> {
        // SAFETY: the caller promises that the ring stays.
        let (ring, found) = unsafe { self.find_ring::<T>(name) }?;
        // SAFETY: the caller promises elements of this type in a ring that is not freed, and that nobody else enqueues.
        Ok(unsafe { Producer::of_other(ring, found.capacity) })
    }

    /// Finds a ring by its name, and returns its consuming end.
    ///
    /// # Errors
    /// [`LookupError::Missing`], [`LookupError::ElementLength`], [`LookupError::Name`] or [`LookupError::Forked`].
    ///
    /// # Safety
    /// In all processes the ring's elements are `T`s; if they are packets, their mbufs have a private area for the
    /// packets' type. The ring is not freed as long as the result lives: the primary process has
    /// [shared](crate::ring::RingBuilder::shared) it. Nobody else dequeues in that time, in any process, unless the
    /// ring was created for several consumers.
    #[doc(alias = "rte_ring_lookup")]
    pub unsafe fn consumer<T: ProcessShared>(&self, name: &str) -> Result<Consumer<T>, LookupError> {
        // SAFETY: the caller promises that the ring stays.
        let (ring, found) = unsafe { self.find_ring::<T>(name) }?;
        // SAFETY: the caller promises elements of this type in a ring that is not freed, and that nobody else dequeues.
        Ok(unsafe { Consumer::of_other(ring, found.capacity) })
    }

    /// The location of the memory zone with this name, found as by [`Memzone::lookup`](crate::memory::Memzone::lookup);
    /// `None` if there is none. Another process may change or free the bytes: reading them needs `unsafe`.
    #[doc(alias = "rte_memzone_lookup")]
    #[must_use]
    pub fn memzone(&self, name: &str) -> Option<MemzoneInfo> {
        memory::find_zone(&self.environment, name)
    }

    /// The names of an object in DPDK: that of a primary process that uses this crate, then that of another one.
    fn names(&self, kind: &'static str, name: &str) -> Result<[CString; 2], LookupError> {
        if self.environment.is_forked() {
            return Err(LookupError::Forked { kind, name: name.to_owned() });
        }
        name::candidates(name).ok_or_else(|| LookupError::Name { kind, name: name.to_owned() })
    }

    /// Finds a ring whose elements are as long as a `T`.
    ///
    /// # Safety
    /// No process frees the ring as long as the handle lives.
    unsafe fn find_ring<T>(&self, name: &str) -> Result<(Handle<sys::rte_ring>, sys::dpdk_sys_ring), LookupError> {
        let names = self.names("ring", name)?;
        let (name, len) = (name.to_owned(), size_of::<T>());
        let mut found = sys::dpdk_sys_ring::default();
        for c_name in names {
            // SAFETY: the EAL is initialised, since there is a `Secondary`; the call compares the name with others under a lock
            // of its own, reads what the ring is made of, and fills a struct of ours.
            unsafe { sys::dpdk_sys_ring_find(c_name.as_ptr(), u32::try_from(len).unwrap_or(0), &raw mut found) };
            if !found.ring.is_null() {
                break;
            }
        }
        match NonNull::new(found.ring) {
            None => Err(LookupError::Missing { kind: "ring", name }),
            Some(_) if found.fits == 0 => Err(LookupError::ElementLength { name, len }),
            Some(ring) => {
                // SAFETY: the caller promises that nobody frees the ring.
                let handle = unsafe { Handle::shared(ring, Arc::clone(&self.environment)) };
                Ok((handle, found))
            }
        }
    }
}
