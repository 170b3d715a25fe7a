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
        let head = self.head();
        let last = unshared(head.last())?;
        let more = fits(len, last.tailroom())?;
        let before = last.data_len();
        last.set_data(last.data_off(), before + more);
        head.change_pkt_len(i32::from(more));
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
        let head = unshared(self.head())?;
        let more = fits(len, self.headroom())?;
        head.set_data(head.data_off() - more, head.data_len() + more);
        head.change_pkt_len(i32::from(more));
        Ok(self.data_mut()?.split_at_mut(usize::from(more)).0)
    }

    /// Removes `len` bytes from the front of the first segment. The bytes stay in the buffer: shared data can be
    /// shortened too, and only this packet changes.
    ///
    /// # Errors
    /// [`PacketError::TooShort`] if the segment has fewer bytes.
    #[doc(alias = "rte_pktmbuf_adj")]
    pub fn adj(&mut self, len: usize) -> Result<(), PacketError> {
        let head = self.head();
        let less = holds(len, head.data_len())?;
        head.set_data(head.data_off() + less, head.data_len() - less);
        head.change_pkt_len(-i32::from(less));
        Ok(())
    }

    /// Removes `len` bytes from the end of the last segment. The data may be shared: only this packet changes.
    ///
    /// # Errors
    /// [`PacketError::TooShort`] if the segment has fewer bytes.
    #[doc(alias = "rte_pktmbuf_trim")]
    pub fn trim(&mut self, len: usize) -> Result<(), PacketError> {
        let head = self.head();
        let last = head.last();
        let less = holds(len, last.data_len())?;
        last.set_data(last.data_off(), last.data_len() - less);
        head.change_pkt_len(-i32::from(less));
        Ok(())
    }

    /// Shortens the frame to its first `len` bytes; it has at least as many. Segments that would be empty are freed.
    pub(crate) fn keep_front(&mut self, len: usize) {
        let head = self.head();
        if self.len() == len {
            return;
        }
        let (mut rest, mut segments, mut last) = (len, 0, head);
        for segment in head.chain() {
            let kept = rest.min(usize::from(segment.data_len()));
            // Not more than the segment has.
            segment.set_data(segment.data_off(), kept as u16);
            rest -= kept;
            segments += 1;
            last = segment;
            if rest == 0 {
                break;
            }
        }
        if let Some(behind) = last.next() {
            last.end_chain();
            // Builds of DPDK with debug checks compare the count with the chain.
            behind.set_segment_count(head.segment_count() - segments);
            behind.set_pkt_len(behind.chain().map(|segment| u32::from(segment.data_len())).sum());
            // SAFETY: the line above has separated the segments behind from this packet, and nobody else has them.
            drop(unsafe { Packet::<()>::from_mbuf(behind.mbuf()) });
        }
        head.set_segment_count(segments);
        // The frame has more bytes, so `len` fits.
        head.set_pkt_len(len as u32);
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
