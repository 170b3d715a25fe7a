// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Further packets of one frame: with the same data, or with a copy.

use super::{
    Packet,
    references::{MOST_REFERENCES, begin_sharing},
};
use crate::{
    Mempool, PrivateData,
    segment::{MOST_SEGMENTS, Segment},
};
use core::ptr::NonNull;
use dpdk_sys as sys;

impl<P: PrivateData> Packet<P> {
    /// Creates another packet with the same data, without copying: its mbufs, one for each segment, come from `pool`
    /// and refer to the buffers of this packet. `None` if the pool is exhausted, if 16,384 mbufs refer to one of the
    /// buffers, or if the pool's mbufs keep buffers of their own
    /// ([`MempoolBuilder::build_in`](crate::MempoolBuilder::build_in)).
    ///
    /// As long as both exist, neither can change the data ([`PacketError::Shared`](crate::PacketError::Shared)). Once
    /// the others are dropped or sent, this packet can change it; the new one never can. Either packet may be
    /// shortened, chained, sent and dropped first. The new packet has its own private area, which is not copied.
    ///
    /// The pool's mbufs need no data room of their own: 0 is enough.
    #[doc(alias = "rte_pktmbuf_clone")]
    #[must_use]
    pub fn share<Q: PrivateData>(&mut self, pool: &Mempool<Q>) -> Option<Packet<Q>> {
        if pool.is_pinned() || self.head().chain().any(|segment| segment.references() >= MOST_REFERENCES) {
            return None;
        }
        begin_sharing();
        // SAFETY: this packet's chain and the pool are live. While nobody else refers to the data, DPDK counts the new
        // reference without an atomic operation: `&mut self` keeps other threads from doing so at the same time.
        let mbuf = NonNull::new(unsafe { sys::rte_pktmbuf_clone(self.mbuf.as_ptr(), pool.as_ptr()) })?;
        // SAFETY: the mbufs are new, from a pool with a private area for a `Q`.
        Some(unsafe { Packet::from_mbuf(mbuf) })
    }

    /// Creates a packet with a copy of the frame, in as many mbufs from `pool` as the data needs. `None` if the pool is
    /// exhausted, or if its mbufs are so small that more than 32,766 are needed. Flags, fields and the device's
    /// findings are copied; the private area is not.
    #[doc(alias = "rte_pktmbuf_copy")]
    #[must_use]
    pub fn copy<Q: PrivateData>(&self, pool: &Mempool<Q>) -> Option<Packet<Q>> {
        // DPDK does not check this: it would miscount the segments, or empty the pool in search of room.
        let room = pool.data_room().saturating_sub(sys::RTE_PKTMBUF_HEADROOM as usize);
        if self.len() > room * usize::from(MOST_SEGMENTS) {
            return None;
        }
        // DPDK cannot copy a frame without bytes, and reports that like an exhausted pool.
        if self.is_empty() || pool.is_pinned() {
            return self.copy_by_hand(pool);
        }
        // SAFETY: this packet's chain is live, nobody writes to it, and the pool is live.
        let mbuf = NonNull::new(unsafe { sys::rte_pktmbuf_copy(self.mbuf.as_ptr(), pool.as_ptr(), 0, u32::MAX) })?;
        // SAFETY: the mbufs are new, from a pool with a private area for a `Q`.
        Some(unsafe { Packet::from_mbuf(mbuf) })
    }

    /// [`Self::copy`] of a frame without bytes, or into mbufs whose buffers are in memory of the program. DPDK clears
    /// the flag of such an mbuf, and if no mbuf is left for the rest of the frame, returns it to its pool without the
    /// flag.
    fn copy_by_hand<Q: PrivateData>(&self, pool: &Mempool<Q>) -> Option<Packet<Q>> {
        let mut copy = pool.alloc()?;
        // SAFETY: both mbufs are live. The first one is new and belongs to nobody else.
        unsafe { sys::dpdk_sys_pktmbuf_copy_hdr(copy.head().mbuf().as_ptr(), self.mbuf()) };
        for mut rest in self.segments() {
            while !rest.is_empty() {
                if copy.tailroom() == 0 {
                    copy.chain(pool.alloc()?).ok()?;
                }
                let (now, later) = rest.split_at(rest.len().min(copy.tailroom()));
                copy.append(now.len()).ok()?.copy_from_slice(now);
                rest = later;
            }
        }
        Some(copy)
    }

    /// Whether another packet refers to the data of a segment, so that it cannot be changed.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.head().chain().any(Segment::is_shared)
    }
}
