// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is done with pools and single packets.

use crate::{
    context::Context,
    model::Piece,
    operation::{End, Length},
    shelf::{Hands, Kind, PacketHeld, PoolHeld, Shelf, choose, choose_mut, pick},
};
use dpdk_rs::PacketError;

impl Length {
    /// In bytes, where the limit is `limit`.
    pub(crate) fn resolve(self, limit: usize) -> usize {
        match self {
            Self::Bytes(len) => usize::from(len),
            Self::Limit(more) => limit.saturating_add_signed(isize::from(more)),
            Self::Huge(len) => len,
        }
    }
}

/// Compares the result of a change with the model. `shared`: what the model said before the call. Another thread may have
/// dropped the other owner since, from the packet first and then from the model, so either result is right then; after the
/// call the model may say less than what the call has seen.
pub(crate) fn compare<T>(
    result: Result<T, PacketError>,
    shared: bool,
    otherwise: Result<(), PacketError>,
    context: &Context,
) -> Option<T> {
    let seen = result.as_ref().map(|_| ()).map_err(|error| *error);
    let expected = if shared { Err(PacketError::Shared) } else { otherwise };
    assert!(seen == expected || shared && !context.is_quiet() && seen == otherwise, "{seen:?} instead of {expected:?}");
    result.ok()
}

/// The result of a call that needs `asked` bytes of `room`.
fn fits(asked: usize, room: usize) -> Result<(), PacketError> {
    if asked <= room && asked <= usize::from(u16::MAX) { Ok(()) } else { Err(PacketError::NoRoom { asked, room }) }
}

fn holds(asked: usize, len: usize) -> Result<(), PacketError> {
    if asked <= len { Ok(()) } else { Err(PacketError::TooShort { asked, len }) }
}

impl<P: Kind> PacketHeld<P> {
    fn append(&mut self, context: &Context, len: Length) {
        let last = self.frame.last_mut();
        let asked = len.resolve(last.tailroom());
        let expected = fits(asked, last.tailroom());
        let shared = last.is_shared();
        if let Some(bytes) = compare(self.packet.append(asked), shared, expected, context) {
            context.fill(bytes);
            assert_eq!(bytes.len(), asked);
            last.bytes.extend_from_slice(bytes);
        }
    }

    fn prepend(&mut self, context: &Context, len: Length) {
        let room = self.frame.headroom();
        let asked = len.resolve(room);
        let shared = self.frame.pieces[0].is_shared();
        if let Some(bytes) = compare(self.packet.prepend(asked), shared, fits(asked, room), context) {
            context.fill(bytes);
            assert_eq!(bytes.len(), asked);
            self.frame.prepend(bytes);
        }
    }

    fn adj(&mut self, context: &Context, len: Length) {
        let there = self.frame.pieces[0].bytes.len();
        let asked = len.resolve(there);
        if compare(self.packet.adj(asked), false, holds(asked, there), context).is_some() {
            self.frame.adj(asked);
        }
    }

    fn trim(&mut self, context: &Context, len: Length) {
        let last = self.frame.last_mut();
        let asked = len.resolve(last.bytes.len());
        if compare(self.packet.trim(asked), false, holds(asked, last.bytes.len()), context).is_some() {
            last.bytes.truncate(last.bytes.len() - asked);
        }
    }

    fn write(&mut self, context: &Context) {
        let first = &mut self.frame.pieces[0];
        let shared = first.is_shared();
        if let Some(bytes) = compare(self.packet.data_mut(), shared, Ok(()), context) {
            context.fill(bytes);
            first.bytes.copy_from_slice(bytes);
        }
    }

    fn write_segments(&mut self, context: &Context) {
        let shared = self.frame.pieces.iter().any(Piece::is_shared);
        if let Some(segments) = compare(self.packet.segments_mut(), shared, Ok(()), context) {
            // All at once, so that two that overlap would show.
            let segments: Vec<&mut [u8]> = segments.collect();
            assert_eq!(segments.len(), self.frame.pieces.len());
            for (bytes, piece) in segments.into_iter().zip(&mut self.frame.pieces) {
                context.fill(bytes);
                piece.bytes.copy_from_slice(bytes);
            }
        }
    }

    fn write_private(&mut self, context: &Context) {
        context.fill(bytemuck::bytes_of_mut(self.packet.private_mut()));
        self.frame.write_private(bytemuck::bytes_of(self.packet.private()));
    }

    fn share<Q: Kind>(&mut self, target: &PoolHeld<Q>, context: &Context) -> Option<PacketHeld<Q>> {
        let pool = &target.token.record;
        let needed = self.frame.pieces.len();
        let refusal = pool.may_refuse(needed) || !context.is_quiet();
        let Some(packet) = self.packet.share(&target.pool) else {
            assert!(refusal, "pool {} of {} with {} out refuses {needed}", pool.name, pool.size, pool.out());
            return None;
        };
        let frame = self.frame.share(pool, &packet);
        Some(PacketHeld { packet, frame })
    }

    fn copy<Q: Kind>(&self, target: &PoolHeld<Q>, context: &Context) -> Option<PacketHeld<Q>> {
        let pool = &target.token.record;
        let needed = self.frame.mbufs_of_copy(pool);
        let refusal = needed.is_none_or(|needed| pool.may_refuse(needed)) || !context.is_quiet();
        let Some(packet) = self.packet.copy(&target.pool) else {
            assert!(refusal, "pool {} of {} with {} out refuses {needed:?}", pool.name, pool.size, pool.out());
            return None;
        };
        let frame = self.frame.copy(pool, &packet);
        Some(PacketHeld { packet, frame })
    }
}

/// What is done with one packet by itself.
#[derive(Clone, Copy)]
pub(crate) enum Change {
    Append(Length),
    Prepend(Length),
    Adj(Length),
    Trim(Length),
    Write,
    WriteSegments,
    WritePrivate,
}

impl<P: Kind> Shelf<P> {
    pub(crate) fn change(&mut self, context: &Context, packet: u8, change: Change) -> Option<()> {
        let held = choose_mut(&mut self.packets, packet)?;
        match change {
            Change::Append(len) => held.append(context, len),
            Change::Prepend(len) => held.prepend(context, len),
            Change::Adj(len) => held.adj(context, len),
            Change::Trim(len) => held.trim(context, len),
            Change::Write => held.write(context),
            Change::WriteSegments => held.write_segments(context),
            Change::WritePrivate => held.write_private(context),
        }
        Some(())
    }

    pub(crate) fn alloc(&mut self, context: &Context, pool: u8) -> Option<()> {
        let held = choose(&self.pools, pool)?;
        let record = &held.token.record;
        let refusal = record.may_refuse(1) || !context.is_quiet();
        match held.pool.alloc() {
            Some(packet) => {
                let frame = crate::model::Frame::fresh(record, &packet);
                self.packets.push(PacketHeld { packet, frame });
            }
            None => assert!(refusal, "pool {} of {} with {} out is exhausted", record.name, record.size, record.out()),
        }
        Some(())
    }

    pub(crate) fn clone_handle(&mut self, pool: u8) -> Option<()> {
        let held = choose(&self.pools, pool)?;
        let clone = PoolHeld { pool: held.pool.clone(), token: held.token.clone() };
        self.pools.push(clone);
        Some(())
    }

    pub(crate) fn end_handle(&mut self, context: &Context, pool: u8, end: End) -> Option<()> {
        let place = pick(&self.pools, pool)?;
        end.apply(context, self.pools.remove(place));
        Some(())
    }

    pub(crate) fn end_packet(&mut self, context: &Context, packet: u8, end: End) -> Option<()> {
        let place = pick(&self.packets, packet)?;
        end.apply(context, self.packets.remove(place));
        Some(())
    }
}

impl End {
    pub(crate) fn apply(self, context: &Context, thing: impl crate::shelf::Thing + 'static) {
        match self {
            Self::Drop => drop(thing),
            Self::Forget => context.forget(thing),
        }
    }
}

impl Hands {
    pub(crate) fn share<P: Kind, Q: Kind>(&mut self, context: &Context, packet: u8, pool: u8) -> Option<()> {
        self.with_pool::<P, Q>(packet, pool, |held, target| held.share(target, context))
    }

    pub(crate) fn copy<P: Kind, Q: Kind>(&mut self, context: &Context, packet: u8, pool: u8) -> Option<()> {
        self.with_pool::<P, Q>(packet, pool, |held, target| held.copy(target, context))
    }

    /// Makes one more packet from a packet and a pool, of two kinds or of one.
    pub(crate) fn with_pool<P: Kind, Q: Kind>(
        &mut self,
        packet: u8,
        pool: u8,
        make: impl FnOnce(&mut PacketHeld<P>, &PoolHeld<Q>) -> Option<PacketHeld<Q>>,
    ) -> Option<()> {
        let pool = pick(&Q::shelf(self).pools, pool)?;
        let place = pick(&P::shelf(self).packets, packet)?;
        let mut held = P::shelf(self).packets.remove(place);
        let target = Q::shelf(self);
        let made = make(&mut held, &target.pools[pool]);
        target.packets.extend(made);
        let packets = &mut P::shelf(self).packets;
        packets.insert(place.min(packets.len()), held);
        Some(())
    }

    pub(crate) fn chain<P: Kind, Q: Kind>(&mut self, packet: u8, tail: u8) -> Option<()> {
        let place = pick(&P::shelf(self).packets, packet)?;
        let mut held = P::shelf(self).packets.remove(place);
        let tails = &mut Q::shelf(self).packets;
        if let Some(tail) = pick(tails, tail) {
            let PacketHeld { packet, frame } = tails.remove(tail);
            held.packet.chain(packet).expect("few segments make no chain too long");
            held.frame.pieces.extend(frame.pieces);
            P::shelf(self).packets.push(held);
            return Some(());
        }
        P::shelf(self).packets.push(held);
        None
    }
}
