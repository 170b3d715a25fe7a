// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames collected into bursts before they are sent.

use super::drain_timer::DrainTimer;
use crate::{Burst, Clock, Packet, PrivateData, Tsc, TxQueue};
use core::{fmt, time::Duration};

/// A TX queue with up to `N` waiting frames. They are sent when a burst is complete, or when the drain time is over
/// ([`Self::drain_due`]). Frames that the device does not accept then are dropped and counted, as by
/// `rte_eth_tx_buffer_flush`.
#[doc(alias = "rte_eth_tx_buffer")]
#[doc(alias = "rte_eth_tx_buffer_flush")]
pub struct TxBuffer<P: PrivateData = (), const N: usize = 32> {
    /// Before the queue, since fields are dropped in this order: the queue may be the last object that keeps the EAL
    /// alive, and the EAL is cleaned up only if all frames are back in their pools.
    waiting: Burst<P, N>,
    queue: TxQueue,
    burst: usize,
    drain: DrainTimer,
    sent: u64,
    /// Without the frames that the queue has rejected since.
    dropped: u64,
    rejected_before: u64,
}

impl<P: PrivateData, const N: usize> TxBuffer<P, N> {
    /// Collects frames for `queue`: `burst` at a time (from 1 to `N`), for no longer than `drain`.
    #[must_use]
    pub fn new(queue: TxQueue, burst: usize, drain: Duration, clock: Clock) -> Self {
        let rejected_before = queue.rejected();
        Self {
            queue,
            waiting: Burst::new(),
            burst: burst.clamp(1, N.max(1)),
            drain: DrainTimer::start(drain, clock),
            sent: 0,
            dropped: 0,
            rejected_before,
        }
    }

    /// Adds one frame, and sends the waiting frames if they form a complete burst.
    #[doc(alias = "rte_eth_tx_buffer")]
    #[inline]
    pub fn push(&mut self, packet: Packet<P>) {
        if let Err(packet) = self.waiting.push(packet) {
            // Only a buffer with a capacity of 0 is full here: a complete burst has been sent.
            drop(packet);
            self.dropped += 1;
        }
        if self.waiting.len() >= self.burst {
            self.flush();
        }
    }

    /// Takes all frames of `burst`, and sends all complete bursts. A full burst goes to the device without being copied
    /// if no frame waits before it.
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

    /// Appends all frames of `burst` to the waiting ones, and sends each complete burst.
    #[inline(never)]
    fn collect<const M: usize>(&mut self, burst: &mut Burst<P, M>) {
        while !burst.is_empty() {
            if self.waiting.append(burst) == 0 || self.waiting.len() >= self.burst {
                self.flush();
            }
        }
    }

    /// Sends the waiting frames. Frames that the device does not accept are dropped.
    #[inline]
    pub fn flush(&mut self) {
        if !self.waiting.is_empty() {
            self.sent += self.queue.tx_some(&mut self.waiting) as u64;
            if !self.waiting.is_empty() {
                self.dropped += clear(&mut self.waiting);
            }
        }
    }

    /// If the drain time is over at `now`, sends the waiting frames and restarts the timer.
    #[inline]
    pub fn drain_due(&mut self, now: Tsc) {
        if self.drain.restart_if_over(now) {
            self.flush();
        }
    }

    /// The number of waiting frames.
    #[inline]
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Whether no frames wait.
    #[inline]
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The number of frames that the device accepted.
    #[inline]
    #[must_use]
    pub const fn sent(&self) -> u64 {
        self.sent
    }

    /// The number of frames that were dropped because the device did not accept them, or would have sent them
    /// incorrectly ([`TxQueue::rejected`]).
    #[inline]
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped + (self.queue.rejected() - self.rejected_before)
    }

    /// Sends the waiting frames and returns the queue.
    #[must_use]
    pub fn into_queue(mut self) -> TxQueue {
        self.flush();
        self.queue
    }
}

/// Frees the frames that the device did not accept. Returns how many.
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
