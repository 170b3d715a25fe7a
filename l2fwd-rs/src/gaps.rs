// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How long an lcore did not poll its queues although frames came: others had its CPU, or a round took long.
//!
//! Seen only where the loop reads the clock anyway, at the drain: a gap is how much later than due that came. So it lasted
//! up to a drain interval (100 µs) longer than reported, a shorter one is not seen, and no packet pays for it.

use crate::queue_pair::{NB_GAP_LIMITS, QueueCounters, QueuePair};
use dpdk_rs::Clock;
use std::{sync::atomic::Ordering::Relaxed, time::Duration};

const LIMITS: [Duration; NB_GAP_LIMITS] =
    [Duration::from_micros(100), Duration::from_millis(1), Duration::from_millis(3), Duration::from_millis(10)];

/// The gaps of one lcore.
#[derive(Debug)]
pub(crate) struct GapWatch {
    clock: Clock,
    /// In TSC cycles; shorter ones are not counted.
    least: u64,
    /// Frames received before the last drain.
    received: u64,
}

/// The main lcore may take the longest one at the same time.
#[cold]
fn count_gap(counters: &QueueCounters, gap: Duration) {
    for (limit, count) in LIMITS.iter().zip(&counters.gaps) {
        if gap > *limit {
            count.fetch_add(1, Relaxed);
        }
    }
    counters.longest_gap_ns.fetch_max(gap.as_nanos() as u64, Relaxed);
}

impl GapWatch {
    /// Nothing has been received yet.
    pub(crate) fn begin(clock: Clock) -> Self {
        Self { clock, least: clock.cycles(LIMITS[0]), received: 0 }
    }

    /// Call at each drain, `late` TSC cycles after it was due. Counts a gap in the lcore's first pair, if frames have come
    /// since the last drain.
    pub(crate) fn watch_gap(&mut self, pairs: &[QueuePair<'_>], late: u64) {
        let received = pairs.iter().map(|pair| pair.counts.rx_packets).sum();
        if late > self.least
            && received != self.received
            && let Some(pair) = pairs.first()
        {
            count_gap(pair.counters, self.clock.duration(late));
        }
        self.received = received;
    }
}

#[cfg(test)]
mod tests {
    use super::count_gap;
    use crate::queue_pair::QueueCounters;
    use std::{sync::atomic::Ordering::Relaxed, time::Duration};

    #[test]
    fn a_gap_counts_for_each_limit_that_it_exceeds() {
        let counters = QueueCounters::default();
        for us in [100, 150, 3_500, 1_200, 20_000, 3_000] {
            count_gap(&counters, Duration::from_micros(us));
        }
        assert_eq!(counters.gaps.each_ref().map(|count| count.load(Relaxed)), [5, 4, 2, 1]);
        assert_eq!(counters.longest_gap_ns.load(Relaxed), 20_000_000);
    }
}
