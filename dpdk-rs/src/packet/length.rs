// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Making a frame longer and shorter, at both ends.

use super::{Packet, PacketError, references::unshared};
use crate::PrivateData;

impl<P: PrivateData> Packet<P> {
    /// Adds `len` bytes at the end of the last segment. Returns them with their previous, arbitrary content.
    ///
    /// # Errors
    /// [`PacketError::NoRoom`] if the tailroom is smaller, [`PacketError::Shared`] if the data has another owner.
    #[doc(alias = "rte_pktmbuf_append")]
    pub fn append(&mut self, len: usize) -> Result<&mut [u8], PacketError> {
        let head = self.head_mut();
        let last = head.last_mut();
        unshared(*last)?;
        let more = fits(len, last.tailroom())?;
        let before = last.data_len();
        // SAFETY: `fits` has compared the added bytes with the room behind the data.
        unsafe { last.set_data(last.data_off(), before + more) };
        // SAFETY: the last segment has grown by as much.
        unsafe { head.change_pkt_len(i32::from(more)) };
        // SAFETY: the data is this packet's alone, as `unshared` has found, and the packet is borrowed exclusively.
        let data = unsafe { last.data_mut() };
        Ok(data.split_at_mut(usize::from(before)).1)
    }

    /// Adds `len` bytes at the front of the frame, from the headroom. Returns them with their previous, arbitrary
    /// content.
    ///
    /// # Errors
    /// [`PacketError::NoRoom`] if the headroom is smaller, [`PacketError::Shared`] if the data has another owner.
    #[doc(alias = "rte_pktmbuf_prepend")]
    pub fn prepend(&mut self, len: usize) -> Result<&mut [u8], PacketError> {
        unshared(self.head())?;
        let more = fits(len, self.headroom())?;
        let head = self.head_mut();
        // SAFETY: the data ends where it did, and `fits` has compared the added bytes with the room before it.
        unsafe { head.set_data(head.data_off() - more, head.data_len() + more) };
        // SAFETY: the first segment has grown by as much.
        unsafe { head.change_pkt_len(i32::from(more)) };
        Ok(self.data_mut()?.split_at_mut(usize::from(more)).0)
    }

    /// Removes `len` bytes from the front of the first segment. The bytes stay in the buffer: shared data can be
    /// shortened too, and only this packet changes.
    ///
    /// # Errors
    /// [`PacketError::TooShort`] if the segment has fewer bytes.
    #[doc(alias = "rte_pktmbuf_adj")]
    pub fn adj(&mut self, len: usize) -> Result<(), PacketError> {
        let head = self.head_mut();
        let less = holds(len, head.data_len())?;
        // SAFETY: the data ends where it did, and `holds` has compared the removed bytes with its length.
        unsafe { head.set_data(head.data_off() + less, head.data_len() - less) };
        // SAFETY: the first segment has shrunk by as much.
        unsafe { head.change_pkt_len(-i32::from(less)) };
        Ok(())
    }

    /// Removes `len` bytes from the end of the last segment. The data may be shared: only this packet changes.
    ///
    /// # Errors
    /// [`PacketError::TooShort`] if the segment has fewer bytes.
    #[doc(alias = "rte_pktmbuf_trim")]
    pub fn trim(&mut self, len: usize) -> Result<(), PacketError> {
        let head = self.head_mut();
        let last = head.last_mut();
        let less = holds(len, last.data_len())?;
        // SAFETY: the data only becomes shorter; `holds` has compared the removed bytes with its length.
        unsafe { last.set_data(last.data_off(), last.data_len() - less) };
        // SAFETY: the last segment has shrunk by as much.
        unsafe { head.change_pkt_len(-i32::from(less)) };
        Ok(())
    }

    /// Shortens the frame to its first `len` bytes, if it has more. Segments that would be empty are freed.
    pub(crate) fn keep_front(&mut self, len: usize) {
        if self.len() <= len {
            return;
        }
        let head = self.head_mut();
        let (mut rest, mut segments, mut last) = (len, 0, head);
        for segment in head.chain_mut() {
            let kept = rest.min(usize::from(segment.data_len()));
            // SAFETY: the data only becomes shorter: `kept` is not more than the segment has.
            unsafe { segment.set_data(segment.data_off(), kept as u16) };
            rest -= kept;
            segments += 1;
            last = segment;
            if rest == 0 {
                break;
            }
        }
        if let Some(behind) = last.next_mut() {
            // SAFETY: this function frees the segments after it, and corrects the counts.
            unsafe { last.end_chain() };
            // Builds of DPDK with debug checks compare the count with the chain.
            // SAFETY: the first `segments` of the chain are still there, and the rest is behind.
            unsafe { behind.set_segment_count(head.segment_count() - segments) };
            let bytes = behind.chain().map(|segment| u32::from(segment.data_len())).sum();
            // SAFETY: the segments have so many bytes.
            unsafe { behind.set_pkt_len(bytes) };
            // SAFETY: these segments were separated from this packet a few lines above, and nobody else has them.
            drop(unsafe { Packet::<()>::from_mbuf(behind.mbuf()) });
        }
        // SAFETY: the loop has counted the segments up to the last one that is left.
        unsafe { head.set_segment_count(segments) };
        // SAFETY: the frame had more than `len` bytes, which therefore fit, and the loop has left so many.
        unsafe { head.set_pkt_len(len as u32) };
    }
}

/// `asked` as an mbuf's length, if it is not above `room`.
#[inline(always)]
fn fits(asked: usize, room: usize) -> Result<u16, PacketError> {
    match u16::try_from(asked) {
        Ok(more) if asked <= room => Ok(more),
        _ => Err(PacketError::NoRoom { asked, room }),
    }
}

fn holds(asked: usize, len: u16) -> Result<u16, PacketError> {
    u16::try_from(asked)
        .ok()
        .filter(|asked| *asked <= len)
        .ok_or(PacketError::TooShort { asked, len: usize::from(len) })
}
