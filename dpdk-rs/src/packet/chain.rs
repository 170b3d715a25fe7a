// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames in several segments: a chain of mbufs.

use super::{Packet, PacketError, references::unshared};
use crate::{
    PrivateData,
    segment::{MOST_SEGMENTS, Segment},
};
use core::{fmt, marker::PhantomData, mem::ManuallyDrop};
use dpdk_sys as sys;

impl<P: PrivateData> Packet<P> {
    /// Iterates over the bytes of each segment, in order.
    #[inline]
    #[must_use]
    pub const fn segments(&self) -> Segments<'_> {
        Segments { next: Some(self.head()), packet: PhantomData }
    }

    /// Iterates over the bytes of each segment, in order, mutably.
    ///
    /// # Errors
    /// [`PacketError::Shared`] if another packet refers to the data of a segment.
    #[inline]
    pub fn segments_mut(&mut self) -> Result<SegmentsMut<'_>, PacketError> {
        let mut next = Some(self.head());
        while let Some(segment) = next {
            next = unshared(segment)?.next();
        }
        Ok(SegmentsMut { next: Some(self.head()), packet: PhantomData })
    }

    /// Appends the segments of `tail` without copying. The frame grows by the length of `tail`. The private area stays
    /// that of this packet's first segment.
    ///
    /// # Errors
    /// `tail`, if the chain would have more than 32,766 segments.
    #[doc(alias = "rte_pktmbuf_chain")]
    pub fn chain<Q: PrivateData>(&mut self, tail: Packet<Q>) -> Result<(), Packet<Q>> {
        let segments = self.head().segment_count().checked_add(tail.head().segment_count());
        let Some(segments) = segments.filter(|segments| *segments <= MOST_SEGMENTS) else {
            return Err(tail);
        };
        let mut tail = ManuallyDrop::new(tail);
        let (head, added) = (self.head_mut(), tail.head_mut());
        // 32,766 segments of 65,535 bytes are less than 4 GiB.
        let len = head.pkt_len().wrapping_add(added.pkt_len());
        // SAFETY: from now on the tail's mbufs belong to this packet, since the tail is not dropped.
        unsafe { head.last_mut().set_next(added.mbuf()) };
        // SAFETY: both chains have this number of segments together.
        unsafe { head.set_segment_count(segments) };
        // SAFETY: both chains have this number of bytes together.
        unsafe { head.set_pkt_len(len) };
        // SAFETY: the mbuf does not head a frame any more, so only its own bytes count.
        unsafe { added.set_pkt_len(u32::from(added.data_len())) };
        Ok(())
    }

    /// Moves the whole frame into the first segment: copies the bytes of the other segments after its data, and frees
    /// their mbufs. A frame in one segment stays as it is.
    ///
    /// If the first segment is too small, use [`Self::copy`] with a pool that has more room.
    ///
    /// # Errors
    /// [`PacketError::NoRoom`] if the first segment has no room for the rest, [`PacketError::Shared`] if its data has
    /// another owner. The data of the other segments may be shared, since it is only read.
    #[doc(alias = "rte_pktmbuf_linearize")]
    pub fn linearize(&mut self) -> Result<(), PacketError> {
        if self.is_contiguous() {
            return Ok(());
        }
        let head = unshared(self.head())?;
        let asked = self.len().saturating_sub(usize::from(head.data_len()));
        let room = head.tailroom();
        // SAFETY: the packet owns its chain and is borrowed exclusively. The data of the first segment belongs to it
        // alone, as `unshared` has checked. The call compares the room once more.
        if asked > room || unsafe { sys::rte_pktmbuf_linearize(self.mbuf.as_ptr()) } != 0 {
            return Err(PacketError::NoRoom { asked, room });
        }
        Ok(())
    }
}

/// The bytes of each segment of a packet, in order; from [`Packet::segments`].
#[derive(Clone)]
pub struct Segments<'a> {
    next: Option<Segment<'a>>,
    packet: PhantomData<&'a [u8]>,
}

impl<'a> Iterator for Segments<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let segment = self.next?;
        self.next = segment.next();
        // SAFETY: the packet is borrowed for `'a`, so its segments stay live and nobody writes to them.
        Some(unsafe { segment.data() })
    }
}

impl fmt::Debug for Segments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

/// The bytes of each segment of a packet, in order, mutably; from [`Packet::segments_mut`].
pub struct SegmentsMut<'a> {
    next: Option<Segment<'a>>,
    packet: PhantomData<&'a mut [u8]>,
}

impl<'a> Iterator for SegmentsMut<'a> {
    type Item = &'a mut [u8];

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let segment = self.next?;
        self.next = segment.next();
        // SAFETY: the packet is borrowed exclusively for `'a`, `segments_mut` checked that nobody else refers to the
        // data, and each segment is returned once.
        Some(unsafe { segment.data_mut() })
    }
}

impl fmt::Debug for SegmentsMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SegmentsMut").finish_non_exhaustive()
    }
}
