// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is done with queues and TX buffers.

use crate::{
    context::Context,
    holders::AnyBuffer,
    model::{Behaviour, DeviceToken, Frame, lock},
    operation::End,
    shelf::{BufferHeld, BurstHeld, Hands, Kind, RxHeld, Shelf, TxHeld, choose_mut, pick},
};
use std::{sync::Arc, time::Duration};

impl<P: Kind> RxHeld<P> {
    fn rx(&mut self, context: &Context, held: &mut BurstHeld<P>, most: Option<u8>) {
        let most = most.map(usize::from);
        let room = held.burst.remaining_capacity().min(most.unwrap_or(usize::MAX));
        let port = self.queue.port().get();
        let pool = self.token.pool();
        let token = Arc::clone(&self.token);
        match &token.record.behaviour {
            Behaviour::Rings { rx, .. } => {
                let mut waiting = rx[usize::from(self.queue.id())].lock();
                let count = waiting.len().min(room);
                let arrived = waiting.drain(..count);
                let (own, foreign): (Vec<Frame>, Vec<Frame>) =
                    arrived.partition(|frame| frame.private_len() >= size_of::<P>());
                self.call(held, most, own.len(), foreign.len());
                let packets = held.burst.packets();
                for (packet, mut frame) in packets[packets.len() - own.len()..].iter().zip(own) {
                    frame.arrive(port, packet);
                    held.frames.push(frame);
                }
            }
            Behaviour::Null { len, deaf, .. } => {
                let room = if *deaf { 0 } else { room };
                let refusal = pool.may_refuse(room) || !context.is_quiet();
                let (added, foreign) = self.call_any(held, most);
                assert_eq!(foreign, 0);
                assert!(added == room || added == 0 && refusal, "{added} of {room}");
                self.received(held, added);
                assert!(held.frames[held.frames.len() - added..].iter().all(|frame| frame.len() == *len));
            }
            Behaviour::Capture(frames) => {
                let (added, foreign) = self.call_any(held, most);
                assert_eq!(foreign, 0);
                self.received(held, added);
                let mut setup = lock(&token.setup);
                let read =
                    &mut setup.as_mut().expect("a queue's port is configured").read[usize::from(self.queue.id())];
                for received in &held.frames[held.frames.len() - added..] {
                    assert!(received.bytes() == frames[*read], "frame {read} of the capture has changed");
                    *read += 1;
                }
                // What was read when the pool was dry is lost.
                if added < room && *read < frames.len() {
                    let mbufs = frames[*read].len().saturating_sub(pool.fresh_room()).div_ceil(pool.data_room) + 1;
                    assert!(pool.may_refuse(mbufs) || !context.is_quiet(), "frame {read} of the capture is missing");
                    *read += 1;
                }
            }
        }
    }

    /// Receives; how many frames were added, and how many dropped.
    fn call_any(&mut self, held: &mut BurstHeld<P>, most: Option<usize>) -> (usize, usize) {
        let before = (held.burst.packets().len(), self.queue.foreign());
        let added = held.burst.rx(&mut self.queue, most);
        assert_eq!(held.burst.packets().len(), before.0 + added);
        (added, (self.queue.foreign() - before.1) as usize)
    }

    fn call(&mut self, held: &mut BurstHeld<P>, most: Option<usize>, added: usize, foreign: usize) {
        assert_eq!(self.call_any(held, most), (added, foreign), "own and foreign frames");
    }

    /// Takes down what the last `added` packets are: fresh mbufs that the driver filled.
    fn received(&self, held: &mut BurstHeld<P>, added: usize) {
        let (pool, port) = (self.token.pool(), self.queue.port().get());
        let packets = held.burst.packets();
        let packets = &packets[packets.len() - added..];
        held.frames.extend(packets.iter().map(|packet| Frame::received(&pool, port, packet)));
    }
}

/// Sends frames from the front of `frames` with a call that says what became of them.
pub(crate) fn send(token: &DeviceToken, queue: u16, frames: &mut Vec<Frame>, call: impl FnOnce() -> Sent) {
    match &token.record.behaviour {
        Behaviour::Rings { tx, .. } => {
            let wire = &tx[usize::from(queue)];
            let mut waiting = wire.lock();
            let Sent { offered, taken, dropped } = call();
            assert_eq!(taken, offered.min(wire.capacity - waiting.len()), "frames that the ring took, of {offered}");
            waiting.extend(frames.drain(..taken));
            frames.drain(..dropped);
        }
        Behaviour::Null { .. } | Behaviour::Capture(_) => {
            let Sent { offered, taken, dropped } = call();
            assert_eq!((taken, dropped), (offered, 0), "frames that the device took, and those dropped");
            frames.drain(..taken);
        }
    }
}

/// What became of the first frames: those taken are followed by those dropped.
pub(crate) struct Sent {
    pub(crate) offered: usize,
    pub(crate) taken: usize,
    pub(crate) dropped: usize,
}

impl<P: Kind> BufferHeld<P> {
    /// Calls a method of the buffer, which is given `added` frames.
    fn call(&mut self, added: Vec<Frame>, method: impl FnOnce(&mut AnyBuffer<P>)) {
        self.waiting.extend(added);
        let (buffer, all) = (&mut self.buffer, self.waiting.len());
        send(&self.token, self.queue, &mut self.waiting, || {
            let before = buffer.counts();
            method(buffer);
            let after = buffer.counts();
            let (taken, dropped) = ((after.0 - before.0) as usize, (after.1 - before.1) as usize);
            let offered = all - buffer.len();
            assert_eq!(taken + dropped, offered, "frames that were sent or dropped");
            Sent { offered, taken, dropped }
        });
        assert!(self.waiting.len() < self.burst, "a complete burst waits");
    }
}

impl<P: Kind> Shelf<P> {
    pub(crate) fn rx(&mut self, context: &Context, queue: u8, burst: u8, most: Option<u8>) -> Option<()> {
        let queue = pick(&self.rx, queue)?;
        let burst = self.some_burst(burst);
        self.rx[queue].rx(context, &mut self.bursts[burst], most);
        Some(())
    }

    pub(crate) fn tx(&mut self, queue: u8, burst: u8) -> Option<()> {
        let queue = pick(&self.tx, queue)?;
        let burst = self.some_burst(burst);
        let (TxHeld { queue, token }, BurstHeld { burst, frames }) = (&mut self.tx[queue], &mut self.bursts[burst]);
        let number = queue.id();
        send(token, number, frames, || Sent { offered: burst.packets().len(), taken: burst.tx(queue), dropped: 0 });
        assert_eq!(queue.rejected(), 0, "these drivers take any chain");
        Some(())
    }

    pub(crate) fn end_rx(&mut self, context: &Context, queue: u8, end: End) -> Option<()> {
        let place = pick(&self.rx, queue)?;
        end.apply(context, self.rx.remove(place));
        Some(())
    }

    pub(crate) fn end_tx(&mut self, context: &Context, queue: u8, end: End) -> Option<()> {
        let place = pick(&self.tx, queue)?;
        end.apply(context, self.tx.remove(place));
        Some(())
    }

    pub(crate) fn new_buffer(
        &mut self,
        context: &Context,
        queue: u8,
        capacity: u8,
        burst: u8,
        hours: bool,
    ) -> Option<()> {
        let place = pick(&self.tx, queue)?;
        let TxHeld { queue, token } = self.tx.remove(place);
        let number = queue.id();
        let drain = if hours { Duration::from_secs(3600) } else { Duration::ZERO };
        let buffer = AnyBuffer::new(capacity, queue, usize::from(burst), drain, context.clock);
        let burst = usize::from(burst).clamp(1, buffer.capacity());
        self.buffers.push(BufferHeld { buffer, waiting: Vec::new(), token, queue: number, burst, hours });
        Some(())
    }

    pub(crate) fn buffer_push(&mut self, buffer: u8, packet: u8) -> Option<()> {
        let place = pick(&self.packets, packet)?;
        let buffer = pick(&self.buffers, buffer)?;
        let held = self.packets.remove(place);
        let waiting = self.buffers[buffer].waiting.len();
        self.buffers[buffer].call(vec![held.frame], |buffer| buffer.push(held.packet));
        let (BufferHeld { waiting: now, burst, .. }, before) = (&self.buffers[buffer], waiting);
        assert_eq!(now.len(), if before + 1 < *burst { before + 1 } else { 0 });
        Some(())
    }

    pub(crate) fn buffer_append(&mut self, buffer: u8, burst: u8) -> Option<()> {
        let held = choose_mut(&mut self.bursts, burst)?;
        let buffer = choose_mut(&mut self.buffers, buffer)?;
        let added = std::mem::take(&mut held.frames);
        buffer.call(added, |buffer| buffer.append(&mut held.burst));
        assert!(held.burst.packets().is_empty(), "the buffer takes them all");
        Some(())
    }

    pub(crate) fn buffer_flush(&mut self, buffer: u8) -> Option<()> {
        let held = choose_mut(&mut self.buffers, buffer)?;
        held.call(Vec::new(), AnyBuffer::flush);
        assert!(held.waiting.is_empty());
        Some(())
    }

    pub(crate) fn buffer_drain(&mut self, context: &Context, buffer: u8) -> Option<()> {
        let held = choose_mut(&mut self.buffers, buffer)?;
        let before = held.waiting.len();
        let now = context.clock.now();
        held.call(Vec::new(), |buffer| buffer.drain_due(now));
        assert_eq!(held.waiting.len(), if held.hours { before } else { 0 });
        Some(())
    }

    pub(crate) fn buffer_into_queue(&mut self, buffer: u8) -> Option<()> {
        let place = pick(&self.buffers, buffer)?;
        let mut held = self.buffers.remove(place);
        // What becomes of the last frames cannot be seen otherwise.
        held.call(Vec::new(), AnyBuffer::flush);
        self.tx.push(TxHeld { queue: held.buffer.into_queue(), token: held.token });
        Some(())
    }

    pub(crate) fn end_buffer(&mut self, context: &Context, buffer: u8, end: End) -> Option<()> {
        let place = pick(&self.buffers, buffer)?;
        end.apply(context, self.buffers.remove(place));
        Some(())
    }
}

impl Hands {
    pub(crate) fn hand_tx<P: Kind, Q: Kind>(&mut self, queue: u8) -> Option<()> {
        let place = pick(&P::shelf(self).tx, queue)?;
        let held = P::shelf(self).tx.remove(place);
        Q::shelf(self).tx.push(held);
        Some(())
    }
}
