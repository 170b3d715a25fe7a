// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How long the loop did not poll its queues while it sent: others had its CPU, or a turn took long.
//!
//! The loop reads the clock once a turn. A turn of more than 100 µs is a gap.

use core::time::Duration;
use dpdk_rs::{Clock, Tsc};
use serde::Serialize;

const LIMITS: [Duration; 4] =
    [Duration::from_micros(100), Duration::from_millis(1), Duration::from_millis(3), Duration::from_millis(10)];

/// The gaps of a run. A gap counts for each limit that it exceeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Gaps {
    /// 0 if none was longer than 100 µs.
    pub(crate) longest_s: f64,
    pub(crate) above_100us: u64,
    pub(crate) above_1ms: u64,
    pub(crate) above_3ms: u64,
    pub(crate) above_10ms: u64,
}

impl Gaps {
    #[cold]
    fn count(&mut self, gap: Duration) {
        let counts = [&mut self.above_100us, &mut self.above_1ms, &mut self.above_3ms, &mut self.above_10ms];
        for (count, limit) in counts.into_iter().zip(LIMITS) {
            *count += u64::from(gap > limit);
        }
        self.longest_s = self.longest_s.max(gap.as_secs_f64());
    }
}

/// Sees the gaps between the turns of a loop.
#[derive(Debug)]
pub(crate) struct GapWatch {
    pub(crate) clock: Clock,
    /// In TSC cycles; shorter ones are not counted.
    least: u64,
    last: Tsc,
    pub(crate) gaps: Gaps,
}

impl GapWatch {
    pub(crate) fn begin(clock: Clock, start: Tsc) -> Self {
        Self { clock, least: clock.cycles(LIMITS[0]), last: start, gaps: Gaps::default() }
    }

    /// Call at each turn.
    #[inline]
    pub(crate) fn turn(&mut self, now: Tsc) {
        let gap = now.since(self.last);
        self.last = now;
        if gap > self.least {
            self.gaps.count(self.clock.duration(gap));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Gaps;
    use core::time::Duration;

    #[test]
    fn a_gap_counts_for_each_limit_that_it_exceeds() {
        let mut gaps = Gaps::default();
        for us in [150, 3_500, 1_200, 20_000, 3_000] {
            gaps.count(Duration::from_micros(us));
        }
        let expected = Gaps { longest_s: 0.02, above_100us: 5, above_1ms: 4, above_3ms: 2, above_10ms: 1 };
        assert_eq!(gaps, expected);
    }
}
