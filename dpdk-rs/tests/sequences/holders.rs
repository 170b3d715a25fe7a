// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Bursts and TX buffers of several capacities.

use crate::shelf::Kind;
use dpdk_rs::{Burst, Clock, Mempool, Packet, RxQueue, Tsc, TxBuffer, TxQueue};
use std::{mem, time::Duration};

#[allow(clippy::large_enum_variant, reason = "bursts lie in place")]
pub(crate) enum AnyBurst<P: Kind> {
    None(Burst<P, 0>),
    One(Burst<P, 1>),
    Three(Burst<P, 3>),
    ThirtyTwo(Burst<P, 32>),
    SixtyFour(Burst<P, 64>),
}

#[allow(clippy::large_enum_variant, reason = "bursts lie in place")]
pub(crate) enum AnyBuffer<P: Kind> {
    One(TxBuffer<P, 1>),
    Three(TxBuffer<P, 3>),
    ThirtyTwo(TxBuffer<P, 32>),
    SixtyFour(TxBuffer<P, 64>),
}

/// Evaluates an expression for whichever capacity a buffer has.
macro_rules! each_buffer {
    ($value:expr, $name:ident => $body:expr) => {
        match $value {
            AnyBuffer::One($name) => $body,
            AnyBuffer::Three($name) => $body,
            AnyBuffer::ThirtyTwo($name) => $body,
            AnyBuffer::SixtyFour($name) => $body,
        }
    };
}

/// The same for a burst.
macro_rules! each_burst {
    ($value:expr, $name:ident => $body:expr) => {
        match $value {
            AnyBurst::None($name) => $body,
            AnyBurst::One($name) => $body,
            AnyBurst::Three($name) => $body,
            AnyBurst::ThirtyTwo($name) => $body,
            AnyBurst::SixtyFour($name) => $body,
        }
    };
}

impl<P: Kind> AnyBurst<P> {
    pub(crate) fn new(capacity: u8) -> Self {
        match capacity % 16 {
            0..3 => Self::One(Burst::new()),
            3..7 => Self::Three(Burst::new()),
            7 => Self::None(Burst::new()),
            8..12 => Self::ThirtyTwo(Burst::new()),
            _ => Self::SixtyFour(Burst::new()),
        }
    }

    pub(crate) fn capacity(&self) -> usize {
        each_burst!(self, burst => burst.capacity())
    }

    pub(crate) fn remaining_capacity(&self) -> usize {
        each_burst!(self, burst => burst.remaining_capacity())
    }

    pub(crate) fn packets(&self) -> &[Packet<P>] {
        each_burst!(self, burst => burst)
    }

    pub(crate) fn packets_mut(&mut self) -> &mut [Packet<P>] {
        each_burst!(self, burst => burst)
    }

    pub(crate) fn push(&mut self, packet: Packet<P>) -> Result<(), Packet<P>> {
        each_burst!(self, burst => burst.push(packet))
    }

    pub(crate) fn pop(&mut self) -> Option<Packet<P>> {
        each_burst!(self, burst => burst.pop())
    }

    pub(crate) fn swap_remove(&mut self, index: usize) -> Option<Packet<P>> {
        each_burst!(self, burst => burst.swap_remove(index))
    }

    /// Drains `take` packets, and drops the iterator.
    pub(crate) fn drain(&mut self, take: usize) -> Vec<Packet<P>> {
        each_burst!(self, burst => burst.drain().take(take).collect())
    }

    /// Drains `take` packets, and forgets the iterator.
    pub(crate) fn drain_forgotten(&mut self, take: usize) -> Vec<Packet<P>> {
        each_burst!(self, burst => {
            let mut iterator = burst.drain();
            let taken = iterator.by_ref().take(take).collect();
            mem::forget(iterator);
            taken
        })
    }

    pub(crate) fn retain(&mut self, keep: impl FnMut(&mut Packet<P>) -> bool) {
        each_burst!(self, burst => burst.retain(keep));
    }

    pub(crate) fn clear(&mut self) {
        each_burst!(self, burst => burst.clear());
    }

    pub(crate) fn append(&mut self, other: &mut Self) -> usize {
        each_burst!(self, burst => each_burst!(other, other => burst.append(other)))
    }

    pub(crate) fn alloc(&mut self, pool: &Mempool<P>, most: Option<usize>) -> usize {
        each_burst!(self, burst => match most {
            Some(most) => pool.alloc_bulk_up_to(burst, most),
            None => pool.alloc_bulk(burst),
        })
    }

    pub(crate) fn rx(&mut self, queue: &mut RxQueue<P>, most: Option<usize>) -> usize {
        each_burst!(self, burst => match most {
            Some(most) => queue.rx_up_to(burst, most),
            None => queue.rx(burst),
        })
    }

    pub(crate) fn tx(&mut self, queue: &mut TxQueue) -> usize {
        each_burst!(self, burst => queue.tx(burst))
    }
}

impl<P: Kind> AnyBuffer<P> {
    pub(crate) fn new(capacity: u8, queue: TxQueue, burst: usize, drain: Duration, clock: Clock) -> Self {
        match capacity % 4 {
            0 => Self::One(TxBuffer::new(queue, burst, drain, clock)),
            1 => Self::Three(TxBuffer::new(queue, burst, drain, clock)),
            2 => Self::ThirtyTwo(TxBuffer::new(queue, burst, drain, clock)),
            _ => Self::SixtyFour(TxBuffer::new(queue, burst, drain, clock)),
        }
    }

    pub(crate) const fn capacity(&self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Three(_) => 3,
            Self::ThirtyTwo(_) => 32,
            Self::SixtyFour(_) => 64,
        }
    }

    pub(crate) fn push(&mut self, packet: Packet<P>) {
        each_buffer!(self, buffer => buffer.push(packet));
    }

    pub(crate) fn append(&mut self, burst: &mut AnyBurst<P>) {
        each_buffer!(self, buffer => each_burst!(burst, burst => buffer.append(burst)));
    }

    pub(crate) fn flush(&mut self) {
        each_buffer!(self, buffer => buffer.flush());
    }

    pub(crate) fn drain_due(&mut self, now: Tsc) {
        each_buffer!(self, buffer => buffer.drain_due(now));
    }

    pub(crate) fn len(&self) -> usize {
        each_buffer!(self, buffer => buffer.len())
    }

    pub(crate) fn is_empty(&self) -> bool {
        each_buffer!(self, buffer => buffer.is_empty())
    }

    /// Frames that were sent, and that were dropped.
    pub(crate) fn counts(&self) -> (u64, u64) {
        each_buffer!(self, buffer => (buffer.sent(), buffer.dropped()))
    }

    pub(crate) fn into_queue(self) -> TxQueue {
        each_buffer!(self, buffer => buffer.into_queue())
    }
}
