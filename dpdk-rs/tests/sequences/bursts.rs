// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is done with bursts.

use crate::{
    context::{Context, catch, panic_on_purpose},
    holders::AnyBurst,
    model::{Frame, lock},
    operation::End,
    shelf::{BurstHeld, Kind, PacketHeld, Shelf, choose, choose_mut, pick},
};
use std::mem;

impl<P: Kind> Shelf<P> {
    fn burst(&mut self, burst: u8) -> Option<&mut BurstHeld<P>> {
        choose_mut(&mut self.bursts, burst)
    }

    pub(crate) fn new_burst(&mut self, capacity: u8) -> Option<()> {
        self.bursts.push(BurstHeld { burst: AnyBurst::new(capacity), frames: Vec::new() });
        Some(())
    }

    /// The place of a burst; of one with some of the single packets, if there is none.
    pub(crate) fn some_burst(&mut self, burst: u8) -> usize {
        pick(&self.bursts, burst).unwrap_or_else(|| {
            self.new_burst(burst);
            while self.bursts[0].burst.remaining_capacity() > 0 && !self.packets.is_empty() {
                self.push(burst, 0);
            }
            0
        })
    }

    pub(crate) fn alloc_bulk(&mut self, context: &Context, pool: u8, burst: u8, most: Option<u8>) -> Option<()> {
        let pool = choose(&self.pools, pool)?;
        let held = choose_mut(&mut self.bursts, burst)?;
        let most = most.map(usize::from);
        let wanted = held.burst.remaining_capacity().min(most.unwrap_or(usize::MAX));
        let record = &pool.token.record;
        let refusal = record.may_refuse(wanted) || !context.is_quiet();
        let added = held.burst.alloc(&pool.pool, most);
        assert!(
            added == wanted || added == 0 && refusal,
            "{added} of {wanted}; {} of {} out",
            record.out(),
            record.size
        );
        let packets = held.burst.packets();
        held.frames.extend(packets[packets.len() - added..].iter().map(|packet| Frame::fresh(record, packet)));
        Some(())
    }

    pub(crate) fn push(&mut self, packet: u8, burst: u8) -> Option<()> {
        let burst = pick(&self.bursts, burst)?;
        let place = pick(&self.packets, packet)?;
        let held = &mut self.bursts[burst];
        let PacketHeld { packet, frame } = self.packets.remove(place);
        let full = held.frames.len() == held.burst.capacity();
        match held.burst.push(packet) {
            Ok(()) => {
                assert!(!full);
                held.frames.push(frame);
            }
            Err(packet) => {
                assert!(full);
                self.packets.push(PacketHeld { packet, frame });
            }
        }
        Some(())
    }

    pub(crate) fn pop(&mut self, burst: u8) -> Option<()> {
        let held = self.burst(burst)?;
        let packet = held.burst.pop();
        let frame = held.frames.pop();
        assert_eq!(packet.is_some(), frame.is_some());
        self.packets.extend(packet.zip(frame).map(|(packet, frame)| PacketHeld { packet, frame }));
        Some(())
    }

    pub(crate) fn swap_remove(&mut self, burst: u8, index: u8) -> Option<()> {
        let held = self.burst(burst)?;
        let index = usize::from(index);
        let packet = held.burst.swap_remove(index);
        let frame = (index < held.frames.len()).then(|| held.frames.swap_remove(index));
        assert_eq!(packet.is_some(), frame.is_some());
        self.packets.extend(packet.zip(frame).map(|(packet, frame)| PacketHeld { packet, frame }));
        Some(())
    }

    /// Exchanges a packet for one in a burst.
    pub(crate) fn replace(&mut self, packet: u8, burst: u8, index: u8) -> Option<()> {
        let outside = pick(&self.packets, packet)?;
        let held = choose_mut(&mut self.bursts, burst)?;
        let inside = pick(&held.frames, index)?;
        let outside = &mut self.packets[outside];
        mem::swap(&mut outside.packet, &mut held.burst.packets_mut()[inside]);
        mem::swap(&mut outside.frame, &mut held.frames[inside]);
        Some(())
    }

    pub(crate) fn reverse(&mut self, burst: u8) -> Option<()> {
        let held = self.burst(burst)?;
        held.burst.packets_mut().reverse();
        held.frames.reverse();
        Some(())
    }

    pub(crate) fn drain(&mut self, context: &Context, burst: u8, take: u8, end: End) -> Option<()> {
        let held = self.burst(burst)?;
        let take = usize::from(take);
        let mut frames = mem::take(&mut held.frames);
        let rest = frames.split_off(take.min(frames.len()));
        let packets = match end {
            End::Drop => {
                let packets = held.burst.drain(take);
                drop(rest);
                packets
            }
            End::Forget => {
                let packets = held.burst.drain_forgotten(take);
                // They can never come back: the iterator borrowed the burst, so it cannot be kept.
                lock(&context.lost).extend(rest.into_iter().map(Frame::lose));
                packets
            }
        };
        assert_eq!(packets.len(), frames.len());
        self.packets.extend(packets.into_iter().zip(frames).map(|(packet, frame)| PacketHeld { packet, frame }));
        Some(())
    }

    pub(crate) fn retain(
        &mut self,
        context: &Context,
        burst: u8,
        keep: u32,
        grow: bool,
        panic_at: Option<u8>,
    ) -> Option<()> {
        let held = self.burst(burst)?;
        let kept = |place: usize| keep >> (place % 32) & 1 == 1;
        let panic_at = panic_at.map(usize::from);
        let panics = panic_at.is_some_and(|panic_at| panic_at < held.frames.len());
        let mut place = 0;
        let BurstHeld { burst, frames } = held;
        let seen = if panics { panic_at.unwrap_or_default() } else { frames.len() };
        let mut unseen = mem::take(frames).into_iter();
        // A packet that is not kept is dropped before the next one is looked at, which may have shared its data.
        let mut refused = None;
        let result = catch(|| {
            burst.retain(|packet| {
                drop(refused.take());
                if panic_at == Some(place) {
                    panic_on_purpose();
                }
                let mut frame = unseen.next().expect("the burst holds no more packets than frames");
                frame.verify(packet, context.is_quiet());
                if grow && let Ok(bytes) = packet.append(1) {
                    context.fill(bytes);
                    frame.last_mut().bytes.extend_from_slice(bytes);
                }
                let keep = kept(place);
                if keep {
                    frames.push(frame);
                } else {
                    refused = Some(frame);
                }
                place += 1;
                keep
            });
        });
        assert_eq!(result.is_err(), panics);
        assert_eq!(place, seen);
        // A panic ends the selection; what was not asked for stays.
        frames.extend(unseen);
        Some(())
    }

    /// Moves packets from one burst to another.
    pub(crate) fn append_burst(&mut self, from: u8, to: u8) -> Option<()> {
        let (from, to) = (pick(&self.bursts, from)?, pick(&self.bursts, to)?);
        let [from, to] = self.bursts.get_disjoint_mut([from, to]).ok()?;
        let count = from.frames.len().min(to.burst.capacity() - to.frames.len());
        assert_eq!(to.burst.append(&mut from.burst), count);
        to.frames.extend(from.frames.drain(..count));
        Some(())
    }

    pub(crate) fn clear(&mut self, burst: u8) -> Option<()> {
        let held = self.burst(burst)?;
        held.burst.clear();
        held.frames.clear();
        Some(())
    }

    pub(crate) fn end_burst(&mut self, context: &Context, burst: u8, end: End) -> Option<()> {
        let place = pick(&self.bursts, burst)?;
        end.apply(context, self.bursts.remove(place));
        Some(())
    }
}
