// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The two loads of a run with `--then`: the frames that each sent and lost, and the time of the last loss.

use crate::{run::Course, stream::Stream};
use dpdk_rs::{Clock, Tsc};
use serde::Serialize;

/// Both loads, all streams together.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Steps {
    loads: [Load; 2],
    /// Since the start of the second load; 0 if it lost no frame.
    last_loss_s: f64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct Load {
    duration_s: f64,
    sent: u64,
    tx_failed: u64,
    lost: u64,
}

/// The counts of a stream.
#[derive(Clone, Copy, Debug)]
struct Counts {
    /// Frames sent, and frames that the TX queue refused, before the second load.
    before: (u64, u64),
    /// The same for both loads.
    whole: (u64, u64),
    lost: u64,
    /// Frames of the second load that were missing when a later frame arrived.
    passed_over: u64,
    /// One more than the highest number that came back.
    next: u64,
}

impl Steps {
    /// `None` for a run with one load.
    pub(crate) fn new(streams: &[Stream], course: Course, clock: Clock) -> Option<Self> {
        let then = course.then?;
        let seconds = |from: Tsc, to: Tsc| clock.duration(to.since(from)).as_secs_f64();
        let mut loads = [course.start, then].map(|_| Load::default());
        let mut last_loss_s = 0.0_f64;
        for Stream { sender, receiver, before_then, .. } in streams {
            let tracker = &receiver.judge.tracker;
            let counts = Counts {
                before: *before_then,
                whole: (sender.sent, sender.failed),
                lost: sender.sent.saturating_sub(receiver.judge.unique()),
                passed_over: tracker.passed_over(),
                next: tracker.next(),
            };
            for (load, part) in loads.iter_mut().zip(counts.loads()) {
                load.sent += part.sent;
                load.tx_failed += part.tx_failed;
                load.lost += part.lost;
            }
            // Frames after the last one that came back count as lost at the end.
            let end = (counts.tail() > 0).then_some(course.end);
            let last = [sender.last_failed, receiver.judge.last_gap, end].into_iter().flatten().max();
            last_loss_s = last_loss_s.max(last.map_or(0.0, |last| seconds(then, last)));
        }
        let [first, second] = &mut loads;
        (first.duration_s, second.duration_s) = (seconds(course.start, then), seconds(then, course.end));
        Some(Self { loads, last_loss_s })
    }
}

impl Counts {
    /// Frames of the second load that were sent after the last one that came back.
    const fn tail(&self) -> u64 {
        let first = if self.next > self.before.0 { self.next } else { self.before.0 };
        self.whole.0.saturating_sub(first)
    }

    fn loads(&self) -> [Load; 2] {
        // Late frames were passed over but are not lost.
        let lost = (self.passed_over + self.tail()).min(self.lost);
        [
            Load { duration_s: 0.0, sent: self.before.0, tx_failed: self.before.1, lost: self.lost - lost },
            Load { duration_s: 0.0, sent: self.whole.0 - self.before.0, tx_failed: self.whole.1 - self.before.1, lost },
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::Counts;

    const RUN: Counts = Counts { before: (1000, 7), whole: (1500, 9), lost: 30, passed_over: 5, next: 1500 };

    #[test]
    fn each_load_has_its_losses() {
        let lost = |counts: Counts| counts.loads().map(|load| load.lost);
        assert_eq!(lost(RUN), [25, 5]);
        assert_eq!(RUN.loads().map(|load| (load.sent, load.tx_failed)), [(1000, 7), (500, 2)]);
        // The last ten did not come.
        assert_eq!(lost(Counts { next: 1490, ..RUN }), [15, 15]);
        // None of the second load came, and some of the first are still missing at its end.
        assert_eq!(lost(Counts { next: 990, passed_over: 0, lost: 520, ..RUN }), [20, 500]);
        // Reordered: passed over, and yet not lost.
        assert_eq!(lost(Counts { lost: 3, ..RUN }), [0, 3]);
    }
}
