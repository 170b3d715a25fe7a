// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The way of the frames from one port to the other.

use crate::{
    Decision, Decisions, Frame, Impairments, delay_queue::DelayQueue, holdback::Holdback, token_bucket::TokenBucket,
};
use core::time::Duration;
use serde::Serialize;

/// Frames by what happened to them: `received` and `duplicated` together are `sent`, `lost`, `lost_in_bursts`, `over_limit`
/// and `not_sent` together once nothing waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Frames that came in.
    pub received: u64,
    /// Frames that the device took.
    pub sent: u64,
    /// Lost independently of others.
    pub lost: u64,
    /// Lost in bursts, and not for themselves.
    pub lost_in_bursts: u64,
    /// Frames that were copied.
    pub duplicated: u64,
    /// Frames that were to be held back until others had passed.
    pub reordered: u64,
    /// Frames with a flipped bit.
    pub corrupted: u64,
    /// Dropped since too many waited.
    pub over_limit: u64,
    /// Frames that the device did not take, and copies for which the pool had no memory.
    pub not_sent: u64,
}

/// The impairments of one direction at work.
#[derive(Debug)]
pub struct Direction<F> {
    decisions: Decisions,
    holdback: Holdback<(Duration, F)>,
    queue: DelayQueue<F>,
    bucket: Option<TokenBucket>,
    limit: usize,
    counters: Counters,
}

impl<F: Frame> Direction<F> {
    /// A direction with these impairments, for which `decisions` were made.
    #[must_use]
    pub fn new(impairments: &Impairments, decisions: Decisions) -> Self {
        Self {
            decisions,
            holdback: Holdback::new(impairments.reorder.map_or(0, |reorder| reorder.gap)),
            queue: DelayQueue::with_capacity(impairments.limit),
            bucket: impairments.rate_bps.map(TokenBucket::new),
            limit: impairments.limit,
            counters: Counters::default(),
        }
    }

    /// The counters, without `sent` and what the device did not take.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Takes a frame that came in at `now`. A copy is made from `pool`.
    pub fn accept(&mut self, mut frame: F, pool: &F::Pool, now: Duration) {
        let decision = self.decisions.decide(frame.changeable());
        self.counters.received += 1;
        if decision.lost {
            self.counters.lost += 1;
            return;
        }
        if decision.lost_in_burst {
            self.counters.lost_in_bursts += 1;
            return;
        }
        if decision.flipped.is_some_and(|bit| frame.flip(bit)) {
            self.counters.corrupted += 1;
        }
        let mut copy = None;
        if decision.duplicated {
            self.counters.duplicated += 1;
            copy = frame.copy(pool);
            self.counters.not_sent += u64::from(copy.is_none());
        }
        self.enqueue(frame, decision, now);
        if let Some(copy) = copy {
            self.enqueue(copy, decision, now);
        }
        if decision.held_back {
            self.counters.reordered += 1;
            return;
        }
        // Also if it was over the limit: what is held back, and until when, does not depend on the time.
        self.holdback.pass();
        while let Some((delay, freed)) = self.holdback.next_free() {
            self.queue.push(now + delay, freed);
        }
    }

    fn enqueue(&mut self, frame: F, Decision { held_back, delay, .. }: Decision, now: Duration) {
        if self.holdback.len() + self.queue.len() >= self.limit {
            self.counters.over_limit += 1;
        } else if held_back {
            self.holdback.hold((delay, frame));
        } else {
            self.queue.push(now + delay, frame);
        }
    }

    /// Takes the next frame to be sent, if it is due and the rate allows it.
    pub fn next_due(&mut self, now: Duration) -> Option<F> {
        let len = self.queue.due(now)?.len_bytes();
        let allowed = self.bucket.as_mut().is_none_or(|bucket| bucket.pay(now, len));
        if allowed { self.queue.pop() } else { None }
    }

    /// Takes the next of the frames that wait at the end, whatever for: those that are held back come last.
    pub fn next_left(&mut self) -> Option<F> {
        self.queue.pop().or_else(|| self.holdback.pop().map(|(_, frame)| frame))
    }
}

#[cfg(test)]
mod tests {
    use super::{Counters, Direction};
    use crate::{Decisions, Frame, GilbertElliott, Impairments, Reorder};
    use core::time::Duration;
    use rand::distr::Bernoulli;

    impl Frame for Vec<u8> {
        /// Whether there is memory for copies.
        type Pool = bool;

        fn len_bytes(&self) -> usize {
            self.len()
        }

        fn changeable(&self) -> usize {
            self.len()
        }

        fn flip(&mut self, bit: usize) -> bool {
            self[bit / 8] ^= 1 << (bit % 8);
            true
        }

        fn copy(&self, pool: &bool) -> Option<Self> {
            pool.then(|| self.clone())
        }
    }

    /// A frame of 100 bytes that begins with its number.
    fn frame(number: u32) -> Vec<u8> {
        let mut frame = number.to_be_bytes().to_vec();
        frame.resize(100, 0);
        frame
    }

    fn number(frame: &[u8]) -> u32 {
        frame.first_chunk().map_or(0, |bytes| u32::from_be_bytes(*bytes))
    }

    fn direction(impairments: &Impairments) -> Direction<Vec<u8>> {
        let [decisions, _] = Decisions::of_both(1, &[impairments.clone(), impairments.clone()]);
        Direction::new(impairments, decisions)
    }

    fn ms(number: u32) -> Duration {
        Duration::from_millis(number.into())
    }

    /// Sends frame n at n ms for `frames` ms and then nothing; returns what leaves, with the time in ms.
    fn pass(direction: &mut Direction<Vec<u8>>, frames: u32) -> Vec<(u32, u32)> {
        let mut left = Vec::new();
        for now in 0..frames + 1000 {
            if now < frames {
                direction.accept(frame(now), &true, ms(now));
            }
            while let Some(frame) = direction.next_due(ms(now)) {
                left.push((now, number(&frame)));
            }
        }
        left
    }

    fn chance(probability: f64) -> Option<Bernoulli> {
        Bernoulli::new(probability).ok()
    }

    #[test]
    fn nothing_changes_by_default() {
        let mut direction = direction(&Impairments::default());
        assert_eq!(pass(&mut direction, 50), (0..50).map(|frame| (frame, frame)).collect::<Vec<_>>());
        assert_eq!(direction.counters(), Counters { received: 50, ..Counters::default() });
    }

    #[test]
    fn frames_leave_after_the_delay_and_jitter_reorders() {
        let mut fixed = direction(&Impairments { delay: ms(7), ..Impairments::default() });
        assert_eq!(pass(&mut fixed, 50), (0..50).map(|frame| (frame + 7, frame)).collect::<Vec<_>>());
        let mut jitter = direction(&Impairments { delay: ms(7), jitter: ms(3), ..Impairments::default() });
        let left = pass(&mut jitter, 50);
        // The loop sees a deadline up to 1 ms after it.
        assert!(left.len() == 50 && left.iter().all(|(time, frame)| (4..=11).contains(&(time - frame))), "{left:?}");
        assert!(!left.iter().map(|(_, frame)| frame).is_sorted(), "{left:?}");
    }

    #[test]
    fn the_delay_of_a_frame_that_is_held_back_begins_when_it_is_freed() {
        let reorder = chance(0.3).map(|share| Reorder { share, gap: 2 });
        let at_once = pass(&mut direction(&Impairments { reorder, ..Impairments::default() }), 50);
        assert!(!at_once.iter().map(|(_, frame)| frame).is_sorted(), "{at_once:?}");
        let delayed = pass(&mut direction(&Impairments { reorder, delay: ms(7), ..Impairments::default() }), 50);
        assert_eq!(delayed, at_once.iter().map(|(time, frame)| (time + 7, *frame)).collect::<Vec<_>>());
    }

    /// Every frame costs 10 ms at this rate, after the first, for which the bucket has to be filled.
    #[test]
    fn the_rate_fills_the_queue_and_its_tail_is_dropped() {
        let impairments = Impairments { rate_bps: Some(80_000), limit: 5, ..Impairments::default() };
        let mut direction = direction(&impairments);
        let left = pass(&mut direction, 100);
        let times: Vec<u32> = left.iter().map(|(time, _)| *time).collect();
        assert_eq!(times, (0..times.len() as u32).map(|frame| frame * 10 + 9).collect::<Vec<_>>());
        // The queue is full from the fifth frame on. Each of the 10 frames that leave makes room for one, the last too late.
        assert_eq!((left.len(), direction.counters().over_limit), (14, 86));
        assert_eq!(left[..6].iter().map(|(_, frame)| *frame).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 10]);
    }

    #[test]
    fn copies_follow_their_frames_and_a_lack_of_memory_is_counted() {
        let mut twice = direction(&Impairments { duplicate: chance(1.0), ..Impairments::default() });
        assert_eq!(pass(&mut twice, 2), [(0, 0), (0, 0), (1, 1), (1, 1)]);
        twice.accept(frame(2), &false, ms(3));
        assert_eq!(twice.next_due(ms(3)).map(|frame| number(&frame)), Some(2));
        assert_eq!(twice.next_due(ms(3)), None);
        assert_eq!(twice.counters(), Counters { received: 3, duplicated: 3, not_sent: 1, ..Counters::default() });
    }

    /// With everything at once, under a limit that drops, every frame is counted, whenever the end comes.
    #[test]
    fn every_frame_is_accounted_for() {
        let impairments = Impairments {
            loss: chance(0.1),
            gemodel: GilbertElliott::new(0.1, 3.0).ok(),
            duplicate: chance(0.2),
            corrupt: chance(0.3),
            reorder: chance(0.2).map(|share| Reorder { share, gap: 4 }),
            delay: ms(20),
            jitter: ms(5),
            rate_bps: Some(700_000),
            limit: 25,
        };
        for frames in [0, 1, 30, 1000] {
            let mut direction = direction(&impairments);
            let mut sent = 0;
            for now in 0..frames {
                direction.accept(frame(now), &true, ms(now));
                sent += std::iter::from_fn(|| direction.next_due(ms(now))).count() as u64;
            }
            assert!(direction.queue.len() + direction.holdback.len() <= 25);
            sent += std::iter::from_fn(|| direction.next_left()).count() as u64;
            let Counters { received, lost, lost_in_bursts, duplicated, over_limit, not_sent, .. } =
                direction.counters();
            assert_eq!(received, u64::from(frames));
            assert_eq!(received + duplicated, sent + lost + lost_in_bursts + over_limit + not_sent);
            assert!(frames < 1000 || [lost, lost_in_bursts, duplicated, over_limit].iter().all(|count| *count > 0));
        }
    }
}
