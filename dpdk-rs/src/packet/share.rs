// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! More packets of one frame: with the same data, or with a copy.

use super::{Packet, PacketError, chain::MOST_SEGMENTS};
use crate::{Mempool, PrivateData, segment::Segment};
use core::{
    ptr::NonNull,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};
use dpdk_sys as sys;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether a packet has ever been shared in this process, or may come from another one, which shares without a word. Before that
/// no two packets have data in common, and writers need not look at reference counts. A thread that has one of two such packets
/// got it, in whatever way, after the store.
static ANY_SHARED: AtomicBool = AtomicBool::new(false);

/// DPDK counts references in 16 bits, without a look at whether they are enough. One call adds as many as the segments that
/// refer to one buffer, at most as many as are counted already, also if several threads share at once. So they stay below
/// twice this number; the rest is a margin.
pub(crate) const MOST_REFERENCES: u16 = 1 << 14;

/// A packet that is taken apart gets up to 40,000 references to a buffer that others refer to, of which DPDK counts 65,535: so one
/// thread at a time adds them, behind a look at how many there are.
static COUNTING: Mutex<()> = Mutex::new(());

/// Why no references to a packet's data can be added.
#[derive(Clone, Copy)]
pub(crate) enum Unsharable {
    /// The lock may be held by a thread of the parent, which is none of this process.
    Forked,
    /// There are [`MOST_REFERENCES`] already.
    Crowded,
}

/// From here on, until the guard is dropped, the packet may be taken apart into others that share its data.
pub(crate) fn begin_taking_apart(
    head: Segment,
    is_forked: impl FnOnce() -> bool,
) -> Result<Option<MutexGuard<'static, ()>>, Unsharable> {
    let references = || head.chain().map(Segment::references).max().unwrap_or(u16::MAX);
    let counting = if references() > 1 {
        if is_forked() {
            return Err(Unsharable::Forked);
        }
        Some(COUNTING.lock().unwrap_or_else(PoisonError::into_inner))
    } else {
        None
    };
    if references() >= MOST_REFERENCES {
        return Err(Unsharable::Crowded);
    }
    begin();
    Ok(counting)
}

/// The segment, if its data may be written to.
#[inline(always)]
pub(crate) fn unshared(segment: Segment) -> Result<Segment, PacketError> {
    if ANY_SHARED.load(Relaxed) && segment.is_shared() { Err(PacketError::Shared) } else { Ok(segment) }
}

/// From here on packets may have data in common.
pub(crate) fn begin() {
    ANY_SHARED.store(true, Relaxed);
}

impl<P: PrivateData> Packet<P> {
    /// Another packet of the same data, without copying: its mbufs, one for each segment, are taken from `pool` and refer
    /// to the buffers of this packet. `None` if the pool is exhausted, if 16,384 mbufs refer to one of the buffers, or if the pool's
    /// mbufs keep buffers of their own ([`MempoolBuilder::build_in`](crate::MempoolBuilder::build_in)).
    ///
    /// As long as both exist neither can change the data ([`PacketError::Shared`](crate::PacketError::Shared)). Once the
    /// others are dropped or sent, this packet can; the new one never can. Either may be shortened, chained, sent and dropped
    /// first. The private area is the new packet's own, and is not copied.
    ///
    /// The pool's mbufs need no room for data of their own: a data room of 0 is enough.
    #[doc(alias = "rte_pktmbuf_clone")]
    #[must_use]
    pub fn share<Q: PrivateData>(&mut self, pool: &Mempool<Q>) -> Option<Packet<Q>> {
        if pool.is_pinned() || self.head().chain().any(|segment| segment.references() >= MOST_REFERENCES) {
            return None;
        }
        begin();
        // SAFETY: this packet's chain is live and the pool too. While nobody else refers to the data, DPDK counts the new
        // reference without an atomic operation: `&mut self` keeps other threads from doing so at the same time.
        let mbuf = NonNull::new(unsafe { sys::rte_pktmbuf_clone(self.mbuf.as_ptr(), pool.as_ptr()) })?;
        // SAFETY: the mbufs are fresh, from a pool with a private area for a `Q`.
        Some(unsafe { Packet::from_mbuf(mbuf) })
    }

    /// A packet with a copy of the frame, in mbufs from `pool`: as many as its data needs. `None` if the pool is
    /// exhausted, or its mbufs have so little room that more than 32,766 are needed. Flags, fields and what a device has found
    /// out are copied, the private area is not.
    #[doc(alias = "rte_pktmbuf_copy")]
    #[must_use]
    pub fn copy<Q: PrivateData>(&self, pool: &Mempool<Q>) -> Option<Packet<Q>> {
        // DPDK does not look: it would count the segments wrong, or empty the pool in search of room.
        let room = pool.data_room().saturating_sub(sys::RTE_PKTMBUF_HEADROOM as usize);
        if self.len() > room * usize::from(MOST_SEGMENTS) {
            return None;
        }
        // DPDK copies no frame without bytes, and has no other answer to that than to an exhausted pool.
        if self.is_empty() || pool.is_pinned() {
            return self.copy_by_hand(pool);
        }
        // SAFETY: this packet's chain is live, nobody writes to it, and the pool is live.
        let mbuf = NonNull::new(unsafe { sys::rte_pktmbuf_copy(self.mbuf.as_ptr(), pool.as_ptr(), 0, u32::MAX) })?;
        // SAFETY: the mbufs are fresh, from a pool with a private area for a `Q`.
        Some(unsafe { Packet::from_mbuf(mbuf) })
    }

    /// [`Self::copy`] of a frame without bytes, or into mbufs whose buffers lie in memory of the program. DPDK takes away the mark
    /// of such an mbuf, and gives it back to its pool without if there is none for the rest of the frame.
    fn copy_by_hand<Q: PrivateData>(&self, pool: &Mempool<Q>) -> Option<Packet<Q>> {
        let mut copy = pool.alloc()?;
        // SAFETY: both mbufs are live; the first one is fresh, and nobody else's.
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

    /// Whether another packet refers to the data of one of the segments, so that it cannot be changed.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.head().chain().any(Segment::is_shared)
    }
}
