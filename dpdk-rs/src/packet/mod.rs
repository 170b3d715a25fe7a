// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! One frame in one mbuf or a chain of them.

mod chain;
mod external;
mod length;
mod received;
mod share;
mod split;

pub(crate) use chain::MOST_SEGMENTS;
pub use chain::{Segments, SegmentsMut};
pub use external::BufferError;
pub use received::{Checksum, Headers, L2, L3, L4, PacketType};
pub(crate) use share::{Unsharable, begin as begin_sharing, begin_taking_apart, unshared};

use crate::{PortId, PrivateData, segment::Segment};
use core::{fmt, marker::PhantomData, ptr::NonNull};
use dpdk_sys::rte_mbuf;

/// A frame, in one mbuf or a chain of mbufs (segments), which this value owns. `P` is the type of the private area that
/// its [`Mempool`](crate::Mempool) reserves in every mbuf.
///
/// Lengths are in bytes, without the FCS. Data starts at the first byte of the Ethernet header.
///
/// Dropping a packet returns its mbufs to their pools; a [`Burst`](crate::Burst) does it for many at once.
#[doc(alias = "rte_mbuf")]
#[doc(alias = "rte_pktmbuf_free")]
#[repr(transparent)]
pub struct Packet<P: PrivateData = ()> {
    mbuf: NonNull<rte_mbuf>,
    private: PhantomData<P>,
}

/// Why a packet cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PacketError {
    /// The data has another owner: it can be read, not written.
    #[error("the packet's data is shared with another packet: copy it to change it")]
    Shared,
    /// There is no room for so many bytes in the segment.
    #[error("{asked} bytes do not fit: the segment has room for {room}")]
    NoRoom {
        /// Bytes asked for.
        asked: usize,
        /// Bytes that would fit.
        room: usize,
    },
    /// The segment holds fewer bytes than are to be removed.
    #[error("{asked} bytes cannot be removed: the segment holds {len}")]
    TooShort {
        /// Bytes to be removed.
        asked: usize,
        /// Bytes there.
        len: usize,
    },
    /// The frame ends before the byte at which it is to be split.
    #[error("the frame cannot be split at byte {at}: it has {len}")]
    Beyond {
        /// Where to split it.
        at: usize,
        /// Its bytes.
        len: usize,
    },
    /// There is no mbuf for the rest of a frame that is split.
    #[error("no mbuf for the rest of the frame: the pool is exhausted, or 16,384 mbufs refer to its data")]
    NoMbuf,
    /// The mbufs of the pool have their buffers in memory of the program
    /// ([`MempoolBuilder::build_in`](crate::MempoolBuilder::build_in)), for ever.
    #[error(
        "the pool's mbufs keep their buffers, and cannot refer to other data: give a pool that was made by MempoolBuilder::build"
    )]
    Pinned,
}

// SAFETY: a packet is the only owner of its mbufs, DPDK lets any thread free an mbuf, data that packets of other threads
// share is not written to and counted atomically, and private data is `Send`.
unsafe impl<P: PrivateData> Send for Packet<P> {}
// SAFETY: through a shared reference a packet is only read, what packets of other threads may change at the same time is
// the reference count alone, which is read atomically, and private data is `Sync`.
unsafe impl<P: PrivateData> Sync for Packet<P> {}

impl<P: PrivateData> Packet<P> {
    /// Takes over an mbuf.
    ///
    /// # Safety
    /// `mbuf` heads a live chain that nobody else owns, with a private area of at least `size_of::<P>()` bytes.
    #[inline]
    pub(crate) const unsafe fn from_mbuf(mbuf: NonNull<rte_mbuf>) -> Self {
        Self { mbuf, private: PhantomData }
    }

    #[inline(always)]
    pub(crate) const fn head(&self) -> Segment {
        // SAFETY: the packet owns the mbuf until it is dropped or sent, and no method lets the segment outlive its
        // borrow of the packet.
        unsafe { Segment::new(self.mbuf) }
    }

    /// The head of the chain, for calls of DPDK that only read.
    pub(crate) const fn mbuf(&self) -> *const rte_mbuf {
        self.mbuf.as_ptr()
    }

    /// The bytes of the first segment: the whole frame if [`Self::is_contiguous`].
    #[doc(alias = "rte_pktmbuf_mtod")]
    #[inline]
    #[must_use]
    pub fn data(&self) -> &[u8] {
        // SAFETY: the packet owns the mbuf for as long as it is borrowed, and whoever writes has to borrow it
        // exclusively.
        unsafe { self.head().data() }
    }

    /// The bytes of the first segment, to be changed in place.
    ///
    /// # Errors
    /// [`PacketError::Shared`] if another packet refers to the same data.
    #[doc(alias = "rte_pktmbuf_mtod")]
    #[inline]
    pub fn data_mut(&mut self) -> Result<&mut [u8], PacketError> {
        let head = unshared(self.head())?;
        // SAFETY: the data is this packet's alone, as `unshared` has found, and the packet is borrowed
        // exclusively.
        Ok(unsafe { head.data_mut() })
    }

    /// The length of the frame: the sum over all segments.
    #[doc(alias = "rte_pktmbuf_pkt_len")]
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.head().pkt_len() as usize
    }

    /// Whether the frame has no bytes at all.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the frame lies in one segment.
    #[doc(alias = "rte_pktmbuf_is_contiguous")]
    #[inline]
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.segment_count() == 1
    }

    /// How many segments the frame has.
    #[inline]
    #[must_use]
    pub fn segment_count(&self) -> usize {
        usize::from(self.head().segment_count())
    }

    /// Whether no segment is longer than the room for data in the mbufs of the first one's pool.
    pub(crate) fn has_room_in_own_pool(&self) -> bool {
        let room = self.head().room_in_pool();
        self.head().chain().all(|segment| segment.data_len() <= room)
    }

    /// Copies the frame's first bytes, over all segments, to the front of `buffer`.
    ///
    /// Returns how many bytes were copied: the shorter of the two lengths.
    #[doc(alias = "rte_pktmbuf_read")]
    pub fn copy_to(&self, buffer: &mut [u8]) -> usize {
        let mut rest = buffer;
        let mut copied = 0;
        for segment in self.segments() {
            let count = segment.len().min(rest.len());
            let (to, behind) = rest.split_at_mut(count);
            to.copy_from_slice(segment.split_at(count).0);
            rest = behind;
            copied += count;
        }
        copied
    }

    /// Free bytes in front of the data, in the first segment.
    #[doc(alias = "rte_pktmbuf_headroom")]
    #[must_use]
    pub fn headroom(&self) -> usize {
        usize::from(self.head().data_off())
    }

    /// Free bytes behind the data, in the last segment.
    #[doc(alias = "rte_pktmbuf_tailroom")]
    #[must_use]
    pub fn tailroom(&self) -> usize {
        self.head().last().tailroom()
    }

    /// The port that received the frame; `None` for a packet from a pool.
    #[inline]
    #[must_use]
    pub fn port(&self) -> Option<PortId> {
        let port = self.head().port();
        // RTE_MBUF_PORT_INVALID
        (port != u16::MAX).then_some(PortId(port))
    }

    /// The private area, with whatever was last written to it in this mbuf: zeros at first.
    #[doc(alias = "rte_mbuf_to_priv")]
    #[inline]
    #[must_use]
    pub const fn private(&self) -> &P {
        // SAFETY: the private area lies right behind the mbuf, in the same object of its pool.
        let area = unsafe { self.mbuf.add(1) };
        // SAFETY: the maker of this packet promised `from_mbuf` an area that is large enough. It is aligned to 8, which
        // `PRIVATE_LEN` has found enough for a `P`, and every pattern of bytes is a `P`, which is `Pod`.
        unsafe { area.cast().as_ref() }
    }

    /// The private area, to be changed.
    #[doc(alias = "rte_mbuf_to_priv")]
    #[inline]
    pub const fn private_mut(&mut self) -> &mut P {
        // SAFETY: the private area lies right behind the mbuf, in the same object of its pool.
        let area = unsafe { self.mbuf.add(1) };
        // SAFETY: the maker of this packet promised `from_mbuf` an area that is large enough. It is aligned to 8, which
        // `PRIVATE_LEN` has found enough for a `P`, and every pattern of bytes is a `P`, which is `Pod`. The area is
        // the mbuf's own, also where data is shared, and the packet is borrowed exclusively.
        unsafe { area.cast().as_mut() }
    }

    /// Asks the processor to bring the start of the first segment into its first-level cache.
    #[doc(alias = "rte_prefetch0")]
    #[inline]
    pub fn prefetch(&self) {
        #[cfg(target_arch = "x86_64")]
        {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: prefetching is a hint, which cannot fault at any address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.head().start().cast()) };
        }
    }
}

impl<P: PrivateData> Drop for Packet<P> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the packet owns its chain of mbufs, and is not used after its drop.
        unsafe { dpdk_sys::rte_pktmbuf_free(self.mbuf.as_ptr()) };
    }
}

impl<P: PrivateData> fmt::Debug for Packet<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Packet")
            .field("len", &self.len())
            .field("segments", &self.segment_count())
            .field("port", &self.port())
            .finish()
    }
}
