// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How long acknowledgments take (RFC 6298, section 2). The engine measures too, and tells nobody.

use crate::time::Time;
use smoltcp::wire::TcpSeqNumber;

/// What the clock can tell apart at least: the stack is polled, and timers have ticks of this length.
const GRANULARITY: u64 = 1_000;

/// A round trip counts as no longer than this, in microseconds.
const LONGEST: u64 = 60_000_000;

/// One segment at a time is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrip {
    /// The number after the segment that is measured, and when it was sent.
    timed: Option<(TcpSeqNumber, Time)>,
    /// SRTT and RTTVAR in microseconds; SRTT is 0 before the first measurement.
    smoothed: u32,
    variation: u32,
}

impl RoundTrip {
    pub(super) const NONE: Self = Self { timed: None, smoothed: 0, variation: 0 };

    /// New data before this number was sent.
    pub(super) fn sent(&mut self, end: TcpSeqNumber, now: Time) {
        if self.timed.is_none() {
            self.timed = Some((end, now));
        }
    }

    /// Something was repeated: which of the segments an acknowledgment is for cannot be told (Karn's algorithm).
    pub(super) const fn forget(&mut self) {
        self.timed = None;
    }

    /// The peer has all before this number.
    pub(super) fn acknowledged(&mut self, number: TcpSeqNumber, now: Time) {
        let Some((_, at)) = self.timed.filter(|(end, _)| number >= *end) else { return };
        self.timed = None;
        // Not 0, which stands for nothing.
        let sample = now.as_micros().saturating_sub(at.as_micros()).clamp(1, LONGEST) as u32;
        if self.smoothed == 0 {
            (self.smoothed, self.variation) = (sample, sample / 2);
        } else {
            self.variation = self.variation - self.variation / 4 + self.smoothed.abs_diff(sample) / 4;
            self.smoothed = self.smoothed - self.smoothed / 8 + sample / 8;
        }
    }

    /// The retransmission time-out, which is not shorter than `least`; `None` before anything was measured.
    pub(super) fn timeout(&self, least: Time) -> Option<Time> {
        let margin = (4 * u64::from(self.variation)).max(GRANULARITY);
        let wait = Time::from_micros(u64::from(self.smoothed) + margin);
        (self.smoothed != 0).then(|| wait.max(least))
    }
}
