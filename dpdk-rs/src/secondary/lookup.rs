// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the primary process has made, found by name.

use super::Secondary;
use crate::{
    Mempool, Packet, PrivateData, Ring,
    memory::{self, MemzoneInfo},
    object::Handle,
    ring::{Consumer, Producer},
};
use core::ptr::NonNull;
use dpdk_sys as sys;
use std::{ffi::CString, sync::Arc};

/// What may be in a ring that processes share: packets, and plain bytes of any pattern (`bytemuck::Pod`). An address in the
/// memory of one process is none in that of another, unless it is in DPDK's.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shared with other processes",
    label = "neither a packet nor plain bytes",
    note = "what processes share is a `Packet`, or `bytemuck::Pod`: without pointers, padding or invalid values"
)]
pub trait ProcessShared: Send + sealed::Shared {}

#[diagnostic::do_not_recommend]
impl<T: bytemuck::Pod + Send> ProcessShared for T {}

impl<P: PrivateData> ProcessShared for Packet<P> {}

mod sealed {
    use crate::{Packet, PrivateData};

    pub trait Shared {}

    #[diagnostic::do_not_recommend]
    impl<T: bytemuck::Pod> Shared for T {}

    impl<P: PrivateData> Shared for Packet<P> {}
}

/// Why something was not found, or cannot be used by this process.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// The name has a NUL byte.
    #[error("{kind} name {name:?} contains a NUL byte")]
    Name {
        /// What was looked for: `pool` or `ring`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// There is nothing of this kind with this name.
    #[error("there is no {kind} '{name}': the primary process has not made it yet, or under another name")]
    Missing {
        /// What was looked for: `pool` or `ring`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// A child made by `fork` finds nothing: DPDK's memory is mapped for its parent.
    #[error("cannot look for {kind} '{name}': this process is a fork of the one that attached")]
    Forked {
        /// What was looked for: `pool` or `ring`.
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// The pool is one of other objects, or of packets whose data is elsewhere.
    #[error("pool '{0}' is not one of packets with their data behind each mbuf")]
    NotPackets(String),
    /// The pool's driver cannot be shared, or is another one in this process.
    #[error(
        "pool '{0}': its driver is none for several processes (ring_mp_mc, ring_mt_rts or ring_mt_hts), or this process has \
         another one under its number: build and link both processes in the same way, and give both the same -d"
    )]
    Driver(String),
    /// Nothing is free in the pool, of which a handle keeps an mbuf.
    #[error("pool '{0}' is exhausted: a handle in another process needs one of its mbufs")]
    Exhausted(String),
    /// The private area of the pool's mbufs is smaller than the type.
    #[error("pool '{name}' has {has} bytes of private data in each mbuf, {asked} are asked for")]
    PrivateLen {
        /// The pool.
        name: String,
        /// Bytes of the type asked for.
        asked: u16,
        /// Bytes in each of the pool's mbufs.
        has: u16,
    },
    /// The ring's memory has another size than that of so many elements.
    #[error("ring '{name}' has not elements of {len} bytes: ask for the type that it was made for")]
    ElementLength {
        /// The ring.
        name: String,
        /// Bytes of the type asked for.
        len: usize,
    },
    /// The ring was made for one producer, or for one consumer.
    #[error("ring '{name}' has one {end} only: take one of its ends, with Secondary::producer or Secondary::consumer")]
    OneEnd {
        /// The ring.
        name: String,
        /// `producer` or `consumer`.
        end: &'static str,
    },
}

impl Secondary {
    /// The pool of packets of this name. A handle keeps one of its mbufs: a primary process on this crate does not free a pool
    /// before all are back.
    ///
    /// # Errors
    /// [`LookupError::Missing`], [`LookupError::NotPackets`], [`LookupError::Driver`], [`LookupError::PrivateLen`] if the
    /// pool's private area is smaller than a `P`, [`LookupError::Exhausted`], [`LookupError::Name`] or [`LookupError::Forked`].
    #[doc(alias = "rte_mempool_lookup")]
    pub fn pool<P: PrivateData>(&self, name: &str) -> Result<Mempool<P>, LookupError> {
        let c_name = self.name("pool", name)?;
        let mut found = sys::dpdk_sys_pool::default();
        // SAFETY: the EAL is initialised, since there is a `Secondary`; the call compares the name with others under a lock of
        // its own, and fills a struct of ours.
        unsafe { sys::dpdk_sys_pool_find(c_name.as_ptr(), &raw mut found) };
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
        // SAFETY: the pool is of packets with this data room and this size, and has a private area for a `P`, as was found. The
        // caller of `attach` promised that nobody frees it while it is used, which `kept` tells other processes.
        Ok(unsafe { Mempool::of_other(pool, kept, size, Arc::clone(&self.environment)) })
    }

    /// The ring of this name, for several producers and consumers.
    ///
    /// # Errors
    /// [`LookupError::Missing`], [`LookupError::ElementLength`], [`LookupError::OneEnd`], [`LookupError::Name`] or
    /// [`LookupError::Forked`].
    ///
    /// # Safety
    /// In all processes the ring's elements are `T`s: of packets, with a private area for the packets' type in their mbufs. It is
    /// not freed as long as a handle lives: the primary process has [shared](crate::ring::RingBuilder::shared) it.
    #[doc(alias = "rte_ring_lookup")]
    pub unsafe fn ring<T: ProcessShared>(&self, name: &str) -> Result<Ring<T>, LookupError> {
        let (ring, found) = self.find_ring::<T>(name)?;
        for (several, end) in [(found.several_producers, "producer"), (found.several_consumers, "consumer")] {
            if several == 0 {
                return Err(LookupError::OneEnd { name: name.to_owned(), end });
            }
        }
        // SAFETY: the caller promises elements of this type in a ring that is not freed, and it was made for several producers
        // and consumers, as was found.
        Ok(unsafe { Ring::of_other(ring, found.capacity) })
    }

    /// The end that puts in, of the ring of this name.
    ///
    /// # Errors
    /// [`LookupError::Missing`], [`LookupError::ElementLength`], [`LookupError::Name`] or [`LookupError::Forked`].
    ///
    /// # Safety
    /// In all processes the ring's elements are `T`s: of packets, with a private area for the packets' type in their mbufs. It is
    /// not freed as long as the result lives: the primary process has [shared](crate::ring::RingBuilder::shared) it. Nobody else
    /// puts in meanwhile, in any process, unless the ring was made for several producers.
    #[doc(alias = "rte_ring_lookup")]
    pub unsafe fn producer<T: ProcessShared>(&self, name: &str) -> Result<Producer<T>, LookupError> {
        let (ring, found) = self.find_ring::<T>(name)?;
        // SAFETY: the caller promises elements of this type in a ring that is not freed, and that nobody else puts in.
        Ok(unsafe { Producer::of_other(ring, found.capacity) })
    }

    /// The end that takes out, of the ring of this name.
    ///
    /// # Errors
    /// [`LookupError::Missing`], [`LookupError::ElementLength`], [`LookupError::Name`] or [`LookupError::Forked`].
    ///
    /// # Safety
    /// In all processes the ring's elements are `T`s: of packets, with a private area for the packets' type in their mbufs. It is
    /// not freed as long as the result lives: the primary process has [shared](crate::ring::RingBuilder::shared) it. Nobody else
    /// takes out meanwhile, in any process, unless the ring was made for several consumers.
    #[doc(alias = "rte_ring_lookup")]
    pub unsafe fn consumer<T: ProcessShared>(&self, name: &str) -> Result<Consumer<T>, LookupError> {
        let (ring, found) = self.find_ring::<T>(name)?;
        // SAFETY: the caller promises elements of this type in a ring that is not freed, and that nobody else takes out.
        Ok(unsafe { Consumer::of_other(ring, found.capacity) })
    }

    /// Where the memory zone of this name is, whoever has reserved it; `None` if there is none. What is there may be changed or
    /// freed by another process: reading it needs `unsafe`.
    #[doc(alias = "rte_memzone_lookup")]
    #[must_use]
    pub fn memzone(&self, name: &str) -> Option<MemzoneInfo> {
        memory::find_zone(name)
    }

    /// A name as DPDK takes it.
    fn name(&self, kind: &'static str, name: &str) -> Result<CString, LookupError> {
        if self.environment.is_forked() {
            return Err(LookupError::Forked { kind, name: name.to_owned() });
        }
        CString::new(name).map_err(|_| LookupError::Name { kind, name: name.to_owned() })
    }

    /// A ring with elements as long as a `T`.
    fn find_ring<T>(&self, name: &str) -> Result<(Handle<sys::rte_ring>, sys::dpdk_sys_ring), LookupError> {
        let c_name = self.name("ring", name)?;
        let (name, len) = (name.to_owned(), size_of::<T>());
        let mut found = sys::dpdk_sys_ring::default();
        // SAFETY: the EAL is initialised, since there is a `Secondary`; the call compares the name with others under a lock of
        // its own, reads what the ring is made of, and fills a struct of ours.
        unsafe { sys::dpdk_sys_ring_find(c_name.as_ptr(), u32::try_from(len).unwrap_or(0), &raw mut found) };
        match NonNull::new(found.ring) {
            None => Err(LookupError::Missing { kind: "ring", name }),
            Some(_) if found.fits == 0 => Err(LookupError::ElementLength { name, len }),
            Some(ring) => Ok((Handle::shared(ring, Arc::clone(&self.environment)), found)),
        }
    }
}
