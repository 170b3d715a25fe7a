// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! New packets from a pool.

use super::Packet;
use crate::{Burst, Mempool, PrivateData};
use core::ptr::NonNull;
use dpdk_sys as sys;

impl<P: PrivateData> Mempool<P> {
    /// Allocates an empty packet with the default headroom; `None` if the pool is exhausted.
    #[doc(alias = "rte_pktmbuf_alloc")]
    #[inline]
    #[must_use]
    pub fn alloc(&self) -> Option<Packet<P>> {
        // SAFETY: the pool is live as long as this handle, and DPDK lets any thread allocate.
        let mbuf = NonNull::new(unsafe { sys::rte_pktmbuf_alloc(self.as_ptr()) })?;
        // SAFETY: the mbuf is new, so nobody else owns it, and `build` gave its pool a private area for a `P`.
        Some(unsafe { Packet::from_mbuf(mbuf) })
    }

    /// Fills the free room of `burst` with empty packets, or adds none if the pool has too few mbufs.
    ///
    /// Returns how many packets were added.
    #[doc(alias = "rte_pktmbuf_alloc_bulk")]
    #[inline]
    pub fn alloc_bulk<const N: usize>(&self, burst: &mut Burst<P, N>) -> usize {
        self.alloc_bulk_up_to(burst, N)
    }

    /// Adds up to `most` empty packets to `burst`, as many as it has room for, or none if the pool has too few mbufs.
    ///
    /// Returns how many packets were added.
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
        // SAFETY: the call succeeded, so it wrote all `wanted` pointers: new mbufs that nobody else owns, and `build`
        // gave their pool a private area for a `P`.
        unsafe { burst.set_len(held + wanted) };
        wanted
    }
}
