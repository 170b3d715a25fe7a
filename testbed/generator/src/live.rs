// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The line that is printed every second.

use crate::stream::Stream;
use dpdk_rs::{Clock, Tsc};
use std::io::Write as _;

/// Prints rates and losses, once per second.
#[derive(Debug)]
pub(crate) struct Live {
    clock: Clock,
    start: Tsc,
    last: Tsc,
    next: Tsc,
    sent: u64,
    received: u64,
}

impl Live {
    /// Prints nothing if `quiet`.
    pub(crate) fn new(clock: Clock, start: Tsc, quiet: bool) -> Self {
        let next = if quiet { Tsc::from_cycles(u64::MAX) } else { start.after(clock.hz()) };
        Self { clock, start, last: start, next, sent: 0, received: 0 }
    }

    /// Prints the line when it is due. Call it often.
    #[inline]
    pub(crate) fn tick(&mut self, now: Tsc, streams: &[Stream]) {
        if now >= self.next {
            self.print(now, streams);
        }
    }

    #[cold]
    fn print(&mut self, now: Tsc, streams: &[Stream]) {
        let sent: u64 = streams.iter().map(|stream| stream.sender.sent).sum();
        let received: u64 = streams.iter().map(|stream| stream.receiver.judge.received()).sum();
        let missing: u64 = streams.iter().map(missing).sum();
        let unique: u64 = streams.iter().map(|stream| stream.receiver.judge.unique()).sum();
        // Frames sent before the last line are hardly still in flight.
        let lost = missing.max(self.sent.saturating_sub(unique));
        let seconds = self.clock.duration(now.since(self.last)).as_secs_f64();
        let rate = |now: u64, before: u64| (now - before) as f64 / seconds / 1e6;
        // A failure to print must not end the measurement.
        let _ = writeln!(
            std::io::stderr(),
            "{:7.1} s  tx {:9.6} Mpps  rx {:9.6} Mpps  lost {lost}",
            self.clock.duration(now.since(self.start)).as_secs_f64(),
            rate(sent, self.sent),
            rate(received, self.received),
        );
        (self.last, self.sent, self.received) = (now, sent, received);
        while self.next <= now {
            self.next = self.next.after(self.clock.hz());
        }
    }
}

/// Gaps in the sequence numbers received.
fn missing(stream: &Stream) -> u64 {
    let judge = &stream.receiver.judge;
    judge.tracker.next().saturating_sub(judge.unique())
}
