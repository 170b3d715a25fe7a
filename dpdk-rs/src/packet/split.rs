// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Splitting one frame into two.

use super::{
    Packet, PacketError,
    references::{MOST_REFERENCES, begin_sharing},
};
use crate::{Mempool, PrivateData, segment::SegmentMut};
use dpdk_sys as sys;

/// The position of a cut: inside a segment, or before it.
struct Cut<'p> {
    /// The segment before the cut segment, if there is one.
    before: Option<SegmentMut<'p>>,
    /// The first segment with bytes of the second part.
    segment: SegmentMut<'p>,
    /// How many bytes of that segment belong to the first part.
    kept: u16,
}

impl<P: PrivateData> Packet<P> {
    /// Splits the frame after `at` bytes, without copying. This packet keeps these bytes, and the result is the rest.
    ///
    /// Between two segments, the rest takes over the mbufs after the cut, if they have a private area for a `Q`. Inside
    /// a segment, the rest begins with an mbuf from `pool` that refers to this packet's data, as in [`Self::share`]:
    /// neither packet can change that segment ([`PacketError::Shared`]) until the rest is dropped, and the rest never
    /// can. The other segments are unaffected. The rest has the same port and none of the device's other findings. Its
    /// private area is that of its first mbuf, with the content that was last written there.
    ///
    /// # Errors
    /// [`PacketError::Beyond`] if the frame is shorter; [`PacketError::NoMbuf`] if the pool is exhausted, or 16,384
    /// mbufs refer to the cut segment; [`PacketError::Pinned`] if the pool's mbufs have their buffers in memory of the
    /// program. Nothing is changed then.
    #[doc(alias = "rte_pktmbuf_attach")]
    pub fn split_off<Q: PrivateData>(&mut self, at: usize, pool: &Mempool<Q>) -> Result<Packet<Q>, PacketError> {
        let len = self.len();
        if at > len {
            return Err(PacketError::Beyond { at, len });
        }
        let Some(cut) = self.cut(at) else {
            // The rest is empty.
            let mut rest = pool.alloc().ok_or(PacketError::NoMbuf)?;
            rest.head_mut().set_port(self.head().port());
            return Ok(rest);
        };
        let mut rest = match cut.before {
            Some(before) if cut.kept == 0 && usize::from(cut.segment.private_len()) >= size_of::<Q>() => {
                // SAFETY: the segments after it become the rest, and this function corrects the counts.
                unsafe { before.end_chain() };
                // SAFETY: the chain after `before` no longer belongs to this packet, and its first mbuf has an area for
                // a `Q`.
                unsafe { Packet::from_mbuf(cut.segment.mbuf()) }
            }
            _ => refer(&cut, pool)?,
        };
        let (head, first) = (self.head_mut(), rest.head_mut());
        // SAFETY: this is the number of segments, not more than the packet had.
        unsafe { first.set_segment_count(first.chain().count() as u16) };
        // SAFETY: the rest has all bytes after the first `at` of `len`.
        unsafe { first.set_pkt_len((len - at) as u32) };
        first.forget_findings(head.port());
        // SAFETY: this is the number of segments, not more than the packet had.
        unsafe { head.set_segment_count(head.chain().count() as u16) };
        // SAFETY: this packet has kept the first `at` bytes.
        unsafe { head.set_pkt_len(at as u32) };
        Ok(rest)
    }

    /// The cut after `at` bytes, if any bytes follow.
    fn cut(&mut self, at: usize) -> Option<Cut<'_>> {
        let mut front = at;
        let mut before = None;
        for segment in self.head_mut().chain_mut() {
            match u16::try_from(front).ok().filter(|kept| *kept < segment.data_len()) {
                Some(kept) => return Some(Cut { before, segment, kept }),
                None => front = front.saturating_sub(usize::from(segment.data_len())),
            }
            before = Some(segment);
        }
        None
    }
}

/// The part of a frame after a cut: an mbuf from `pool` that refers to the data of the segment, and the segments after
/// it. The counts of both first segments are still to be corrected.
fn refer<Q: PrivateData>(cut: &Cut<'_>, pool: &Mempool<Q>) -> Result<Packet<Q>, PacketError> {
    let Cut { before, segment, kept } = *cut;
    if pool.is_pinned() {
        return Err(PacketError::Pinned);
    }
    if segment.references() >= MOST_REFERENCES {
        return Err(PacketError::NoMbuf);
    }
    let mut rest = pool.alloc().ok_or(PacketError::NoMbuf)?;
    let first = rest.head_mut();
    begin_sharing();
    // SAFETY: `first` is a new mbuf that belongs to nobody else. `segment` is a live mbuf of a packet that is borrowed
    // exclusively, so no other thread counts a reference to its data while nobody else refers to it.
    unsafe { sys::rte_pktmbuf_attach(first.mbuf().as_ptr(), segment.mbuf().as_ptr()) };
    // SAFETY: `first` refers to the same buffer, in which the data ends where it did.
    unsafe { first.set_data(segment.data_off() + kept, segment.data_len() - kept) };
    if let Some(next) = segment.next() {
        // SAFETY: the caller corrects the counts, and the segments after it are appended to `first` below.
        unsafe { segment.end_chain() };
        // SAFETY: `first` is new, and the line above has separated the segments that follow.
        unsafe { first.set_next(next.mbuf()) };
    }
    match before.filter(|_| kept == 0) {
        // SAFETY: the data only becomes shorter: the segment has more than `kept` bytes.
        None => unsafe { segment.set_data(segment.data_off(), kept) },
        // The segment has no bytes before the cut: free its mbuf. Its data stays as long as the rest refers to it.
        Some(before) => {
            // SAFETY: the caller corrects the counts, and the segment after it is freed below.
            unsafe { before.end_chain() };
            segment.head_frame_alone();
            // SAFETY: the lines above have made the segment the head of its own chain, and nobody has another handle of
            // it.
            drop(unsafe { Packet::<()>::from_mbuf(segment.mbuf()) });
        }
    }
    Ok(rest)
}
