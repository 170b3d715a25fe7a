// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames collected to bursts before they are sent.

use crate::{Burst, Clock, Packet, PrivateData, Tsc, TxQueue};
use core::{fmt, time::Duration};

/// A TX queue with up to `N` frames waiting for it. They are sent when there are enough for a burst, or when the drain
/// time is over ([`Self::drain`]). What the device does not take then is dropped and counted, as
/// `rte_eth_tx_buffer_flush` does.
#[doc(alias = "rte_eth_tx_buffer")]
#[doc(alias = "rte_eth_tx_buffer_flush")]
pub struct TxBuffer<P: PrivateData = (), const N: usize = 32> {
    /// Before the queue, since fields are dropped in this order: the queue may be the last that keeps the EAL, which is cleaned
    /// up only if all frames are back in their pools.
    waiting: Burst<P, N>,
    queue: TxQueue,
    burst: usize,
    drain: u64,
    drain_at: Tsc,
    sent: u64,
    /// Without those that the queue has rejected since.
    dropped: u64,
    rejected_before: u64,
}

impl<P: PrivateData, const N: usize> TxBuffer<P, N> {
    /// Collects frames for `queue`: `burst` at a time (at least 1, at most `N`), for no longer than `drain`.
    #[must_use]
    pub fn new(queue: TxQueue, burst: usize, drain: Duration, clock: Clock) -> Self {
        let drain = clock.cycles(drain);
        let rejected_before = queue.rejected();
        Self {
            queue,
            waiting: Burst::new(),
            burst: burst.clamp(1, N.max(1)),
            drain,
            drain_at: clock.now().after(drain),
            sent: 0,
            dropped: 0,
            rejected_before,
        }
    }

    /// Adds one frame, and sends the burst if that completes it.
    #[doc(alias = "rte_eth_tx_buffer")]
    #[inline]
    pub fn push(&mut self, packet: Packet<P>) {
        if let Err(packet) = self.waiting.push(packet) {
            // Only a buffer of no capacity is full here: a complete burst has been sent.
            drop(packet);
            self.dropped += 1;
        }
        if self.waiting.len() >= self.burst {
            self.flush();
        }
    }

    /// Takes all frames of `burst`, and sends whatever makes complete bursts. A full burst goes to the device without
    /// being copied if nothing is waiting before it.
    #[inline]
    pub fn append<const M: usize>(&mut self, burst: &mut Burst<P, M>) {
        if self.waiting.is_empty() && burst.len() >= self.burst {
            self.sent += self.queue.tx_some(burst) as u64;
            if !burst.is_empty() {
                self.dropped += clear(burst);
            }
        } else {
            self.collect(burst);
        }
    }

    /// Puts all frames of `burst` behind those that wait, and sends whenever there are enough.
    #[inline(never)]
    fn collect<const M: usize>(&mut self, burst: &mut Burst<P, M>) {
        while !burst.is_empty() {
            if self.waiting.append(burst) == 0 || self.waiting.len() >= self.burst {
                self.flush();
            }
        }
    }

    /// Sends what is waiting; what the device does not take is dropped.
    #[inline]
    pub fn flush(&mut self) {
        if !self.waiting.is_empty() {
            self.sent += self.queue.tx_some(&mut self.waiting) as u64;
            if !self.waiting.is_empty() {
                self.dropped += clear(&mut self.waiting);
            }
        }
    }

    /// Sends what is waiting if the drain time is over at `now`, and starts it again.
    #[inline]
    pub fn drain(&mut self, now: Tsc) {
        if now >= self.drain_at {
            self.drain_at = now.after(self.drain);
            self.flush();
        }
    }

    /// How many frames wait.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether no frame waits.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Frames that the device took.
    #[inline]
    #[must_use]
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// Frames that were dropped because the device did not take them, or would not have sent them right
    /// ([`TxQueue::rejected`]).
    #[inline]
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped + (self.queue.rejected() - self.rejected_before)
    }

    /// Sends what is waiting and gives the queue back.
    #[must_use]
    pub fn into_queue(mut self) -> TxQueue {
        self.flush();
        self.queue
    }
}

/// Frees what the device did not take; how many frames.
#[cold]
#[inline(never)]
fn clear<P: PrivateData, const N: usize>(burst: &mut Burst<P, N>) -> u64 {
    let count = burst.len();
    burst.clear();
    count as u64
}

impl<P: PrivateData, const N: usize> fmt::Debug for TxBuffer<P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TxBuffer")
            .field("queue", &self.queue)
            .field("waiting", &self.waiting.len())
            .field("sent", &self.sent)
            .field("dropped", &self.dropped())
            .finish_non_exhaustive()
    }
}
