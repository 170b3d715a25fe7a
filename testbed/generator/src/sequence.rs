// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Finds duplicates, reordering and loss from the sequence numbers of a stream.
//!
//! A bitmap records which of the last [`WINDOW`] frames have arrived. A frame that arrives after a frame with a higher
//! number is reordered (RFC 4737, section 3.3: type-P-reordered). A frame older than the window is late: the tracker no
//! longer knows whether it is a duplicate, and does not count it as one.

/// How many frames the tracker remembers.
pub(crate) const WINDOW: u64 = 1 << 20;

const WORD_BITS: u64 = u64::BITS as u64;
const WORDS: usize = (WINDOW / WORD_BITS) as usize;

/// Watches the sequence numbers of one stream.
#[derive(Debug)]
pub(crate) struct SequenceTracker {
    /// Bit `n % WINDOW` is set if frame `n` has arrived, for the last [`WINDOW`] frames up to the newest word.
    seen: Box<[u64; WORDS]>,
    /// The next number in order: one more than the highest seen.
    next: u64,
    counts: SequenceCounts,
    /// Frames from this number on that were passed over.
    passed_over: u64,
    watched_from: u64,
}

/// How many frames of each kind there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SequenceCounts {
    /// All frames seen.
    pub(crate) frames: u64,
    pub(crate) duplicated: u64,
    pub(crate) reordered: u64,
    pub(crate) late: u64,
}

impl SequenceTracker {
    pub(crate) fn new() -> Self {
        Self { seen: Box::new([0; WORDS]), next: 0, counts: SequenceCounts::default(), passed_over: 0, watched_from: 0 }
    }

    pub(crate) const fn counts(&self) -> SequenceCounts {
        self.counts
    }

    /// One more than the highest number seen.
    pub(crate) const fn next(&self) -> u64 {
        self.next
    }

    /// Frames that were passed over since [`Self::watch_from`]: lost, unless they come late.
    pub(crate) const fn passed_over(&self) -> u64 {
        self.passed_over
    }

    /// Frames from `number` on that are passed over count from now on.
    pub(crate) const fn watch_from(&mut self, number: u64) {
        (self.passed_over, self.watched_from) = (0, number);
    }

    /// Records frame `number`.
    #[inline]
    pub(crate) fn note(&mut self, number: u64) {
        self.counts.frames += 1;
        let bit = 1 << (number % WORD_BITS);
        if number == self.next {
            let word = self.word(number);
            // The first number of a word finds there what was seen a window ago.
            *word = if bit == 1 { 1 } else { *word | bit };
            self.next += 1;
        } else {
            self.note_out_of_order(number, bit);
        }
    }

    /// Records `count` consecutive frames, at least one, from `first` on, which is the next in order or comes after a gap.
    #[inline]
    pub(crate) fn note_from(&mut self, first: u64, count: u64) {
        if first > self.next {
            self.skip_to(first);
        }
        self.counts.frames += count;
        self.next = first;
        let end = first + count;
        while self.next < end {
            let place = self.next % WORD_BITS;
            let bits = (end - self.next).min(WORD_BITS - place);
            let mask = (u64::MAX >> (WORD_BITS - bits)) << place;
            let word = self.word(self.next);
            // The first number of a word finds there what was seen a window ago.
            *word = if place == 0 { mask } else { *word | mask };
            self.next += bits;
        }
    }

    #[inline(always)]
    fn word(&mut self, number: u64) -> &mut u64 {
        // The remainder is below the length, which the compiler sees.
        &mut self.seen[(number / WORD_BITS) as usize % WORDS]
    }

    fn note_out_of_order(&mut self, number: u64, bit: u64) {
        if number > self.next {
            self.skip_to(number);
            *self.word(number) |= bit;
            self.next = number + 1;
            return;
        }
        // Whole words: the newest one is only partly of this turn of the window.
        let oldest = (self.next.saturating_sub(1) / WORD_BITS + 1).saturating_sub(WORDS as u64) * WORD_BITS;
        if number < oldest {
            self.counts.late += 1;
            self.counts.reordered += 1;
            return;
        }
        let word = self.word(number);
        if *word & bit != 0 {
            self.counts.duplicated += 1;
        } else {
            *word |= bit;
            self.counts.reordered += 1;
        }
    }

    /// Forgets what was seen a window ago, up to and including the word of `number`.
    fn skip_to(&mut self, number: u64) {
        self.passed_over += number.saturating_sub(self.next.max(self.watched_from));
        let newest = number / WORD_BITS;
        // The word of the highest number seen is of this turn; without one, none is.
        let first = self.next.div_ceil(WORD_BITS);
        for word in first.max(newest.saturating_sub(WORDS as u64 - 1))..=newest {
            *self.word(word * WORD_BITS) = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SequenceCounts, SequenceTracker, WINDOW};
    use proptest::prelude::*;
    use std::collections::HashSet;

    #[test]
    fn frames_that_are_passed_over_count_from_the_watched_one_on() {
        let mut tracker = SequenceTracker::new();
        tracker.note_from(0, 10);
        tracker.note(15);
        assert_eq!(tracker.passed_over(), 5);
        tracker.watch_from(20);
        assert_eq!(tracker.passed_over(), 0);
        // 16 to 22 are missing, of which 20, 21 and 22 count.
        tracker.note_from(23, 4);
        assert_eq!(tracker.passed_over(), 3);
        tracker.note(30);
        assert_eq!(tracker.passed_over(), 6);
    }

    /// Remembers everything.
    #[derive(Default)]
    struct Naive {
        seen: HashSet<u64>,
        highest: Option<u64>,
        counts: SequenceCounts,
    }

    impl Naive {
        fn note(&mut self, number: u64) {
            self.counts.frames += 1;
            let words_back = self.highest.map_or(0, |highest| (highest / 64).saturating_sub(number / 64));
            if words_back >= WINDOW / 64 {
                self.counts.late += 1;
                self.counts.reordered += 1;
            } else if !self.seen.insert(number) {
                self.counts.duplicated += 1;
            } else if self.highest.is_some_and(|highest| number < highest) {
                self.counts.reordered += 1;
            }
            self.highest = self.highest.max(Some(number));
        }
    }

    fn agree(numbers: impl IntoIterator<Item = u64>) {
        let (mut naive, mut tracker) = (Naive::default(), SequenceTracker::new());
        // As a receiver: those in a row together.
        let (mut together, mut row) = (SequenceTracker::new(), 0..0);
        for number in numbers {
            naive.note(number);
            tracker.note(number);
            assert_eq!(tracker.counts(), naive.counts, "after {number}");
            if number == row.end && !row.is_empty() {
                row.end += 1;
                continue;
            }
            if !row.is_empty() {
                together.note_from(row.start, row.end - row.start);
            }
            row = number..number + 1;
            if number < together.next() {
                together.note(number);
                row = 0..0;
            }
        }
        if !row.is_empty() {
            together.note_from(row.start, row.end - row.start);
        }
        assert_eq!(tracker.next(), naive.highest.map_or(0, |highest| highest + 1));
        assert_eq!(
            (together.counts(), together.next(), together.seen),
            (tracker.counts(), tracker.next(), tracker.seen)
        );
    }

    /// What a bad network does to one stretch of frames.
    #[derive(Clone, Debug)]
    enum Event {
        InOrder(u16),
        Lose(u32),
        Repeat(u32),
        Swap,
        Old(u32),
    }

    fn any_event() -> impl Strategy<Value = Event> {
        let around_window = (WINDOW as u32 - 200)..(WINDOW as u32 + 200);
        prop_oneof![
            5 => (1_u16..300).prop_map(Event::InOrder),
            2 => prop_oneof![1_u32..300, around_window.clone(), 0..3 * WINDOW as u32].prop_map(Event::Lose),
            1 => (1_u32..300).prop_map(Event::Repeat),
            1 => Just(Event::Swap),
            1 => prop_oneof![1_u32..300, around_window].prop_map(Event::Old),
        ]
    }

    proptest! {
        #[test]
        fn tracker_counts_as_the_naive_model(start in prop_oneof![Just(0), 0..3 * WINDOW], events in
            prop::collection::vec(any_event(), 1..60))
        {
            let mut next = start;
            let mut numbers = Vec::new();
            for event in events {
                match event {
                    Event::InOrder(count) => {
                        numbers.extend(next..next + u64::from(count));
                        next += u64::from(count);
                    }
                    Event::Lose(count) => next += u64::from(count),
                    Event::Repeat(count) => numbers.extend(next.saturating_sub(u64::from(count))..next),
                    Event::Swap => {
                        numbers.extend([next + 1, next]);
                        next += 2;
                    }
                    Event::Old(age) => numbers.push(next.saturating_sub(u64::from(age))),
                }
            }
            agree(numbers);
        }
    }

    #[test]
    fn every_edge_of_the_window_is_right() {
        for highest in [WINDOW - 1, WINDOW, WINDOW + 63, WINDOW + 64, 5 * WINDOW + 1] {
            for age in [1, 63, 64, 65, WINDOW - 65, WINDOW - 64, WINDOW - 63, WINDOW - 1, WINDOW, WINDOW + 1] {
                let old = highest.saturating_sub(age);
                agree([highest, old, old, highest, highest + 1, old]);
                agree([0, highest, old, old, highest, highest + 64, old]);
            }
        }
    }

    #[test]
    fn a_stream_in_order_over_several_windows_has_nothing_to_report() {
        let mut tracker = SequenceTracker::new();
        (0..3 * WINDOW + 7).for_each(|number| tracker.note(number));
        let frames = 3 * WINDOW + 7;
        assert_eq!(tracker.counts(), SequenceCounts { frames, ..SequenceCounts::default() });
    }
}
