// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What carries frames from one port to the other.

use core::time::Duration;
use dpdk_rs::{Burst, Mempool, Packet, RxQueue, TxBuffer};
use testbed_impair::{Counters, Direction};

/// The most frames that are received or sent in one call.
pub(crate) const BURST: usize = 32;

/// The frames of a port on their way to the other.
pub(crate) struct Way {
    pub(crate) rx_port: u16,
    pub(crate) tx_port: u16,
    pub(crate) rx: RxQueue,
    pub(crate) tx: TxBuffer<(), BURST>,
    /// Where received frames and copies come from.
    pub(crate) pool: Mempool,
    pub(crate) direction: Direction<Packet>,
}

impl Way {
    /// Receives a burst, and sends what is due. `elapsed` is the time since the start.
    pub(crate) fn poll(&mut self, elapsed: impl Fn() -> Duration) {
        let mut received = Burst::<(), BURST>::new();
        self.rx.rx(&mut received);
        // Not earlier: if the program pauses in between, frames that come meanwhile must not get less than their delay.
        let now = elapsed();
        for frame in received.drain() {
            self.direction.accept(frame, &self.pool, now);
            // Before the next one comes: what may go does not count for the limit.
            self.send_due(now);
        }
        self.send_due(now);
        self.tx.flush();
    }

    fn send_due(&mut self, now: Duration) {
        while let Some(frame) = self.direction.next_due(now) {
            self.tx.push(frame);
        }
    }

    /// Sends the frames that wait at the end.
    pub(crate) fn send_left(&mut self) {
        while let Some(frame) = self.direction.next_left() {
            self.tx.push(frame);
        }
        self.tx.flush();
    }

    pub(crate) fn counters(&self) -> Counters {
        let counters = self.direction.counters();
        Counters { sent: self.tx.sent(), not_sent: counters.not_sent + self.tx.dropped(), ..counters }
    }
}
