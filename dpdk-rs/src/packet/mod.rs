// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! One frame, in one mbuf or in a chain of mbufs.

mod alloc;
mod chain;
mod error;
mod external;
mod length;
mod received;
mod references;
mod share;
mod split;

pub use chain::{Segments, SegmentsMut};
pub use error::PacketError;
pub use external::BufferError;
pub use received::{Checksum, Headers, L2, L3, L4, PacketType};
pub(crate) use references::{Unsharable, begin_sharing, begin_taking_apart, unshared};

use crate::{
    PortId, PrivateData, prefetch,
    segment::{Segment, SegmentMut},
};
use core::{fmt, marker::PhantomData, ptr::NonNull};
use dpdk_sys::rte_mbuf;

/// An owned frame, in one mbuf or in a chain of mbufs (segments). `P` is the type of the private area that its
/// [`Mempool`](crate::Mempool) reserves in every mbuf.
///
/// Lengths are in bytes, without the FCS. Data starts at the first byte of the Ethernet header.
///
/// Dropping a packet returns its mbufs to their pools; a [`Burst`](crate::Burst) returns those of many packets at once.
#[doc(alias = "rte_mbuf")]
#[doc(alias = "rte_pktmbuf_free")]
#[repr(transparent)]
pub struct Packet<P: PrivateData = ()> {
    mbuf: NonNull<rte_mbuf>,
    private: PhantomData<P>,
}

// SAFETY: a packet is the only owner of its mbufs, and DPDK lets any thread free an mbuf. Data that packets of several
// threads share is not written to and is counted atomically. Private data is `Send`.
unsafe impl<P: PrivateData> Send for Packet<P> {}
// SAFETY: through a shared reference a packet is only read. Packets of other threads can only change the reference
// count at the same time, which is read atomically. Private data is `Sync`.
unsafe impl<P: PrivateData> Sync for Packet<P> {}

impl<P: PrivateData> Packet<P> {
    /// Takes ownership of an mbuf.
    ///
    /// # Safety
    /// `mbuf` heads a live chain that nobody else owns, with a private area of at least `size_of::<P>()` bytes.
    #[inline]
    pub(crate) const unsafe fn from_mbuf(mbuf: NonNull<rte_mbuf>) -> Self {
        Self { mbuf, private: PhantomData }
    }

    #[inline(always)]
    pub(crate) const fn head(&self) -> Segment<'_> {
        // SAFETY: the packet owns its chain until it is dropped or sent, which its borrow rules out, and whoever changes
        // the fields borrows it exclusively.
        unsafe { Segment::new(self.mbuf) }
    }

    #[inline(always)]
    pub(crate) const fn head_mut(&mut self) -> SegmentMut<'_> {
        // SAFETY: the packet owns its chain until it is dropped or sent, which its borrow rules out. The borrow is
        // exclusive.
        unsafe { SegmentMut::new(self.mbuf) }
    }

    /// The head of the chain, for calls of DPDK that only read.
    pub(crate) const fn mbuf(&self) -> *const rte_mbuf {
        self.mbuf.as_ptr()
    }

    /// The bytes of the first segment, which is the whole frame if [`Self::is_contiguous`].
    #[doc(alias = "rte_pktmbuf_mtod")]
    #[inline]
    #[must_use]
    pub fn data(&self) -> &[u8] {
        // SAFETY: the packet owns the mbuf for as long as it is borrowed, and whoever writes has to borrow it
        // exclusively.
        unsafe { self.head().data() }
    }

    /// The bytes of the first segment, mutably.
    ///
    /// # Errors
    /// [`PacketError::Shared`] if another packet refers to the same data.
    #[doc(alias = "rte_pktmbuf_mtod")]
    #[inline]
    pub fn data_mut(&mut self) -> Result<&mut [u8], PacketError> {
        let head = unshared(self.head())?;
        // SAFETY: the data belongs to this packet alone, as `unshared` has checked, and the packet is borrowed
        // exclusively.
        Ok(unsafe { head.data_mut() })
    }

    /// The length of the frame in bytes: the sum over all segments.
    #[doc(alias = "rte_pktmbuf_pkt_len")]
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.head().pkt_len() as usize
    }

    /// Whether the frame has no bytes.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the frame is in one segment.
    #[doc(alias = "rte_pktmbuf_is_contiguous")]
    #[inline]
    #[must_use]
    pub fn is_contiguous(&self) -> bool {
        self.segment_count() == 1
    }

    /// The number of segments.
    #[inline]
    #[must_use]
    pub fn segment_count(&self) -> usize {
        usize::from(self.head().segment_count())
    }

    /// Whether each segment fits in the data room of an mbuf from the first one's pool.
    pub(crate) fn has_room_in_own_pool(&self) -> bool {
        let room = self.head().room_in_pool();
        self.head().chain().all(|segment| segment.data_len() <= room)
    }

    /// Copies the start of the frame, over all segments, to `buffer`.
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

    /// The free bytes before the data, in the first segment.
    #[doc(alias = "rte_pktmbuf_headroom")]
    #[must_use]
    pub fn headroom(&self) -> usize {
        usize::from(self.head().data_off())
    }

    /// The free bytes after the data, in the last segment.
    #[doc(alias = "rte_pktmbuf_tailroom")]
    #[must_use]
    pub fn tailroom(&self) -> usize {
        self.head().last().tailroom()
    }

    /// The port that received the frame; `None` for a packet that was allocated from a pool.
    #[inline]
    #[must_use]
    pub fn port(&self) -> Option<PortId> {
        let port = self.head().port();
        // RTE_MBUF_PORT_INVALID
        (port != u16::MAX).then_some(PortId(port))
    }

    /// The private area, with the content that was last written to it in this mbuf; initially zeros.
    #[doc(alias = "rte_mbuf_to_priv")]
    #[inline]
    #[must_use]
    pub const fn private(&self) -> &P {
        // SAFETY: the private area follows the mbuf in the same object of its pool.
        let area = unsafe { self.mbuf.add(1) };
        // SAFETY: whoever created this packet promised `from_mbuf` an area that is large enough. The area is aligned to
        // 8, which `PRIVATE_LEN` has checked to be enough for a `P`, and every pattern of bytes is a valid `P`, which
        // is `Pod`.
        unsafe { area.cast().as_ref() }
    }

    /// The private area, mutably.
    #[doc(alias = "rte_mbuf_to_priv")]
    #[inline]
    pub const fn private_mut(&mut self) -> &mut P {
        // SAFETY: the private area follows the mbuf in the same object of its pool.
        let area = unsafe { self.mbuf.add(1) };
        // SAFETY: whoever created this packet promised `from_mbuf` an area that is large enough. The area is aligned to
        // 8, which `PRIVATE_LEN` has checked to be enough for a `P`, and every pattern of bytes is a valid `P`, which
        // is `Pod`. The area belongs to the mbuf even if its data is shared, and the packet is borrowed exclusively.
        unsafe { area.cast().as_mut() }
    }

    /// Prefetches the start of the first segment into the first-level cache.
    #[doc(alias = "rte_prefetch0")]
    #[inline]
    pub fn prefetch(&self) {
        prefetch(self.head().start().addr(), 1);
    }
}

impl<P: PrivateData> Drop for Packet<P> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the packet owns its chain of mbufs and is being dropped.
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
