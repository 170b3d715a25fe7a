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
    dropped: u64,
}

impl<P: PrivateData, const N: usize> TxBuffer<P, N> {
    /// Collects frames for `queue`: `burst` at a time (at least 1, at most `N`), for no longer than `drain`.
    #[must_use]
    pub fn new(queue: TxQueue, burst: usize, drain: Duration, clock: Clock) -> Self {
        let drain = clock.cycles(drain);
        Self {
            queue,
            waiting: Burst::new(),
            burst: burst.clamp(1, N.max(1)),
            drain,
            drain_at: clock.now().after(drain),
            sent: 0,
            dropped: 0,
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
            let (sent, dropped) = send(&mut self.queue, burst);
            self.sent += sent;
            self.dropped += dropped;
            return;
        }
        while !burst.is_empty() {
            if self.waiting.append(burst) == 0 || self.waiting.len() >= self.burst {
                self.flush();
            }
        }
    }

    /// Sends what is waiting; what the device does not take is dropped.
    #[inline]
    pub fn flush(&mut self) {
        let (sent, dropped) = send(&mut self.queue, &mut self.waiting);
        self.sent += sent;
        self.dropped += dropped;
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

    /// Frames that were dropped because the device did not take them.
    #[inline]
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Sends what is waiting and gives the queue back.
    #[must_use]
    pub fn into_queue(mut self) -> TxQueue {
        self.flush();
        self.queue
    }
}

/// Sends a burst; how many frames were sent, and how many dropped.
#[inline]
fn send<P: PrivateData, const N: usize>(queue: &mut TxQueue, burst: &mut Burst<P, N>) -> (u64, u64) {
    let all = burst.len();
    let sent = queue.tx(burst);
    burst.clear();
    (sent as u64, (all - sent) as u64)
}

impl<P: PrivateData, const N: usize> fmt::Debug for TxBuffer<P, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TxBuffer")
            .field("queue", &self.queue)
            .field("waiting", &self.waiting.len())
            .field("sent", &self.sent)
            .field("dropped", &self.dropped)
            .finish_non_exhaustive()
    }
}
