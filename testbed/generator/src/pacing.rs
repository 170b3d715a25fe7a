// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! When each frame is due.
//!
//! Frame `n` is due `n / rate` after the start, whatever happened to earlier frames, so the mean rate is exact as long as
//! the machine keeps up. After a pause (the machine was busy), frames leave at twice the rate until the backlog is gone: an
//! unlimited burst would overflow a forwarder that handles the rate itself. So a forwarder gets up to twice the rate for as
//! long as the pause was: what it loses then may not be its own fault. [`Lateness`] reports this.

use core::time::Duration;
use dpdk_rs::Tsc;
use serde::Serialize;

/// A frame that leaves later than this after it was due makes up for a pause. The loop's own turns are shorter.
const LATE: Duration = Duration::from_micros(100);

/// How far a stream fell behind its schedule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Lateness {
    /// How long after it was due a frame left, at most, less up to one interval between two frames.
    pub(crate) worst_lag_s: f64,
    /// Frames that left more than 100 µs after they were due, at up to twice the rate.
    pub(crate) caught_up: u64,
}

impl Lateness {
    /// That of both.
    pub(crate) fn and(self, other: Self) -> Self {
        Self { worst_lag_s: self.worst_lag_s.max(other.worst_lag_s), caught_up: self.caught_up + other.caught_up }
    }
}

/// Frames at a fixed rate, up to `total` frames.
#[derive(Clone, Debug)]
pub(crate) struct Pacer {
    start: Tsc,
    /// Frames per cycle, times 2^64.
    frames_per_cycle: u128,
    total: u64,
    /// How many frames have been handed out.
    done: u64,
    /// When the frames handed out last have left at twice the rate, times 2^64.
    busy_until: u128,
    half_interval: u128,
    rate_pps: f64,
    /// The most frames that were due at once.
    most_due: u64,
    /// With more frames due than this, the first of them is late.
    late_above: u64,
    caught_up: u64,
}

const ONE: f64 = 18_446_744_073_709_551_616.0; // 2^64

impl Pacer {
    /// Begins at 0, unless [`Self::begin`] says otherwise.
    pub(crate) fn new(hz: u64, rate_pps: f64, total: u64) -> Self {
        // Rounded up: a frame that is due exactly now must not wait for the next cycle.
        let frames_per_cycle = (rate_pps / hz as f64 * ONE).ceil() as u128;
        let half_interval = (hz as f64 / rate_pps / 2.0 * ONE) as u128;
        Self {
            start: Tsc::from_cycles(0),
            frames_per_cycle,
            total,
            done: 0,
            busy_until: 0,
            half_interval,
            rate_pps,
            most_due: 0,
            late_above: 1 + (rate_pps * LATE.as_secs_f64()) as u64,
            caught_up: 0,
        }
    }

    /// The first frame is due at `start`.
    pub(crate) const fn begin(&mut self, start: Tsc) {
        self.start = start;
    }

    /// How many frames to send now, at most `most`; they count as sent.
    #[inline]
    pub(crate) fn take(&mut self, now: Tsc, most: usize) -> usize {
        let elapsed = u128::from(now.since(self.start));
        let now = elapsed << 64;
        if now < self.busy_until {
            return 0;
        }
        let due = ((elapsed * self.frames_per_cycle) >> 64) as u64;
        let due = due.saturating_add(1).min(self.total);
        let waiting = due.saturating_sub(self.done);
        let count = waiting.min(most as u64);
        self.most_due = self.most_due.max(waiting);
        self.caught_up += if waiting > self.late_above { count } else { 0 };
        self.done += count;
        self.busy_until = now + self.half_interval * u128::from(count);
        count as usize
    }

    /// How far it fell behind so far.
    pub(crate) fn lateness(&self) -> Lateness {
        // The newest of the frames that are due is on time.
        let worst_lag_s = self.most_due.saturating_sub(1) as f64 / self.rate_pps;
        Lateness { worst_lag_s, caught_up: self.caught_up }
    }

    /// Whether every frame has been handed out.
    #[inline]
    pub(crate) const fn is_done(&self) -> bool {
        self.done >= self.total
    }
}

#[cfg(test)]
mod tests {
    use super::{Lateness, Pacer};
    use dpdk_rs::Tsc;
    use proptest::prelude::*;

    const HZ: u64 = 2_100_000_000;

    fn at(cycles: u64) -> Tsc {
        Tsc::from_cycles(77 + cycles)
    }

    fn pacer(rate: f64, total: u64) -> Pacer {
        let mut pacer = Pacer::new(HZ, rate, total);
        pacer.begin(at(0));
        pacer
    }

    proptest! {
        /// As slow as can be: the frames whose time has come, one by one.
        #[test]
        fn a_loop_that_keeps_up_sends_exactly_what_is_due(rate in 1.0..2e7_f64, turns in prop::collection::vec(20_u64..90, 1..400))
        {
            let mut pacer = pacer(rate, u64::MAX);
            let (mut now, mut sent) = (0, 0);
            for turn in turns {
                sent += pacer.take(at(now), 512);
                let due = (now as f64 * rate / HZ as f64).floor() as usize + 1;
                prop_assert!(sent.abs_diff(due) <= 1, "{} sent, {} due", sent, due);
                now += turn;
            }
        }

        #[test]
        fn no_frame_is_early_and_none_too_many(rate in 1.0..2e7_f64, total in 1_u64..2000, turns in
            prop::collection::vec((0_u64..1_000_000, 1_usize..512), 1..400))
        {
            let mut pacer = pacer(rate, total);
            let (mut now, mut sent) = (0, 0);
            for (turn, most) in turns {
                let count = pacer.take(at(now), most);
                prop_assert!(count <= most);
                sent += count;
                prop_assert!(sent as f64 <= now as f64 * rate / HZ as f64 + 1.001);
                prop_assert!(sent as u64 <= total);
                prop_assert_eq!(pacer.is_done(), sent as u64 == total);
                now += turn;
            }
        }

        #[test]
        fn a_backlog_is_made_up_for_at_twice_the_rate(rate in 1e3..1e6_f64, pause_frames in 10_u64..1000, most in 1_usize..512)
        {
            let mut pacer = pacer(rate, u64::MAX);
            let interval = (HZ as f64 / rate) as u64;
            let pause = pause_frames * interval;
            let (mut now, mut sent) = (pause, 0);
            // A tenth longer than the backlog takes: this loop looks a hundred times an interval, not all the time.
            while now < 2 * pause + pause / 10 + 2 * most as u64 * interval {
                sent += pacer.take(at(now), most) as u64;
                let allowed = 2 * (now - pause) / interval + most as u64 + 2;
                prop_assert!(sent <= allowed, "{} sent, {} allowed", sent, allowed);
                now += interval / 100;
            }
            let due = (now as f64 * rate / HZ as f64) as u64 + 1;
            prop_assert!(sent.abs_diff(due) <= 1, "{} sent, {} due", sent, due);
        }
    }

    /// A loop of 1 µs a turn, which once looks away for 5 ms: the frames of that time leave at twice the rate.
    #[test]
    fn a_pause_shows_as_the_worst_lag_and_the_frames_that_make_up_for_it() {
        let mut pacer = pacer(1e6, 20_000);
        let (turn, pause) = (HZ / 1_000_000, HZ / 200);
        let mut now = 0;
        while !pacer.is_done() {
            pacer.take(at(now), 32);
            now += if now == 100 * turn { pause } else { turn };
        }
        let Lateness { worst_lag_s, caught_up } = pacer.lateness();
        assert!((0.00499..0.00501).contains(&worst_lag_s), "{worst_lag_s} s");
        // 5,000 frames fell due in the pause, and as many while these left; the last ones are less than 100 µs late.
        assert!((9_600..=10_100).contains(&caught_up), "{caught_up} frames");
    }

    #[test]
    fn a_loop_that_keeps_up_makes_up_for_nothing() {
        let mut pacer = pacer(1e6, 20_000);
        let mut now = 0;
        while !pacer.is_done() {
            pacer.take(at(now), 32);
            now += HZ / 100_000;
        }
        assert_eq!(pacer.lateness().caught_up, 0);
        assert!(pacer.lateness().worst_lag_s < 20e-6);
        let two = Lateness { worst_lag_s: 0.5, caught_up: 7 };
        assert_eq!(pacer.lateness().and(two), two);
    }

    #[test]
    fn the_first_frame_goes_at_once_and_the_last_a_frame_before_the_end() {
        let mut pacer = pacer(10.0, 10);
        let sent: Vec<usize> = (0..11).map(|frame| pacer.take(at(frame * HZ / 10), 32)).collect();
        assert_eq!(sent, [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0]);
        assert!(pacer.is_done());
    }
}
