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
        let time = self.clock.duration(now.since(self.start)).as_secs_f64();
        // A failure to print must not end the measurement.
        let _ =
            writeln!(std::io::stderr(), "{}", line(time, rate(sent, self.sent), rate(received, self.received), lost));
        (self.last, self.sent, self.received) = (now, sent, received);
        while self.next <= now {
            self.next = self.next.after(self.clock.hz());
        }
    }
}

/// `testbed/testbed/wire/generator.py` reads it.
fn line(seconds: f64, tx_mpps: f64, rx_mpps: f64, lost: u64) -> String {
    format!("{seconds:7.1} s  tx {tx_mpps:9.6} Mpps  rx {rx_mpps:9.6} Mpps  lost {lost}")
}

/// Gaps in the sequence numbers received.
fn missing(stream: &Stream) -> u64 {
    let judge = &stream.receiver.judge;
    judge.tracker.next().saturating_sub(judge.unique())
}

#[cfg(test)]
mod tests {
    use super::line;

    /// The same lines are in `testbed/tests/test_campaign_soak.py`.
    #[test]
    fn the_line_is_the_one_that_the_testbed_reads() {
        assert_eq!(line(1.04, 0.02, 0.019_999, 0), "    1.0 s  tx  0.020000 Mpps  rx  0.019999 Mpps  lost 0");
        assert_eq!(
            line(14_400.0, 148.8, 1_248.809_5, 1 << 40),
            "14400.0 s  tx 148.800000 Mpps  rx 1248.809500 Mpps  lost 1099511627776"
        );
    }
}
