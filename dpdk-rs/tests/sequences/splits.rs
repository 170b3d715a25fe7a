// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Packets that are attached, split and made one.

use crate::{
    context::Context,
    model::{Frame, Piece},
    operation::Length,
    packets::compare,
    shelf::{Hands, Kind, PacketHeld, PoolHeld, Shelf, choose, choose_mut},
};
use dpdk_rs::{BufferError, Packet, PacketError};

impl Frame {
    /// The piece in which the frame is cut behind `at` bytes, and how many bytes of it stay; `None` if nothing is behind.
    fn cut(&self, at: usize) -> Option<(usize, usize)> {
        let mut front = at;
        for (place, piece) in self.pieces.iter().enumerate() {
            if front < piece.bytes.len() {
                return Some((place, front));
            }
            front -= piece.bytes.len();
        }
        None
    }

    /// Whether a split behind `at` bytes, for private data of `private_len` bytes, needs an mbuf.
    fn split_needs_mbuf(&self, at: usize, private_len: usize) -> bool {
        match self.cut(at) {
            Some((place, 0)) if place > 0 => self.pieces[place].private_len() < private_len,
            _ => true,
        }
    }

    /// Takes off the pieces behind `at` bytes.
    fn split(&mut self, at: usize, target: &PoolHeld<impl Kind>, private_len: usize) -> Vec<Piece> {
        let pool = &target.token.record;
        let Some((place, kept)) = self.cut(at) else { return vec![Piece::empty(pool)] };
        if !self.split_needs_mbuf(at, private_len) {
            return self.pieces.split_off(place);
        }
        let mut rest = self.pieces.split_off(place + 1);
        let cut = &mut self.pieces[place];
        let behind = cut.bytes.split_off(kept);
        rest.insert(0, cut.refer(pool, cut.offset() + kept, behind));
        if kept == 0 && place > 0 {
            self.pieces.truncate(place);
        }
        rest
    }
}

impl<P: Kind> PacketHeld<P> {
    fn split<Q: Kind>(&mut self, target: &PoolHeld<Q>, context: &Context, at: Length) -> Option<PacketHeld<Q>> {
        let len = self.frame.len();
        let at = at.resolve(len);
        let (pool, private_len) = (&target.token.record, size_of::<Q>());
        match self.packet.split_off(at, &target.pool) {
            Ok(packet) => {
                assert!(at <= len);
                let pieces = self.frame.split(at, target, private_len);
                let frame = self.frame.rest(pieces, &packet);
                Some(PacketHeld { packet, frame })
            }
            Err(error) if at > len => {
                assert_eq!(error, PacketError::Beyond { at, len });
                None
            }
            Err(error) => {
                assert_eq!(error, PacketError::NoMbuf);
                let refusal = pool.may_refuse(1) || !context.is_quiet();
                assert!(refusal && self.frame.split_needs_mbuf(at, private_len), "pool {} refuses", pool.name);
                None
            }
        }
    }

    fn linearize(&mut self, context: &Context) {
        let [first, rest @ ..] = &self.frame.pieces[..] else { unreachable!("a frame has a segment") };
        let asked = rest.iter().map(|piece| piece.bytes.len()).sum();
        let (room, contiguous) = (first.tailroom(), rest.is_empty());
        let expected = if contiguous || asked <= room { Ok(()) } else { Err(PacketError::NoRoom { asked, room }) };
        let shared = !contiguous && first.is_shared();
        if compare(self.packet.linearize(), shared, expected, context).is_some() {
            let bytes = self.frame.bytes();
            self.frame.pieces.truncate(1);
            self.frame.pieces[0].bytes = bytes;
        }
    }
}

impl<P: Kind> Shelf<P> {
    pub(crate) fn linearize(&mut self, context: &Context, packet: u8) -> Option<()> {
        choose_mut(&mut self.packets, packet)?.linearize(context);
        Some(())
    }

    pub(crate) fn attach(&mut self, context: &Context, pool: u8, len: u16) -> Option<()> {
        let held = choose(&self.pools, pool)?;
        let record = &held.token.record;
        let refusal = record.may_refuse(1) || !context.is_quiet();
        let mut bytes = vec![0; usize::from(len)];
        context.fill(&mut bytes);
        match Packet::attach(&held.pool, bytes.clone()) {
            Ok(packet) => {
                assert!(len != 0);
                let frame = Frame::attached(record, &packet, bytes, &context.lost_buffers);
                self.packets.push(PacketHeld { packet, frame });
            }
            Err((error, buffer)) => {
                let expected = if len == 0 { BufferError::Length { len: 0 } } else { BufferError::NoMbuf };
                assert!(error == expected && (refusal || len == 0) && buffer == bytes, "{error} in {}", record.name);
            }
        }
        Some(())
    }
}

impl Hands {
    pub(crate) fn split<P: Kind, Q: Kind>(
        &mut self,
        context: &Context,
        packet: u8,
        pool: u8,
        at: Length,
    ) -> Option<()> {
        self.with_pool::<P, Q>(packet, pool, |held, target| held.split(target, context, at))
    }
}
