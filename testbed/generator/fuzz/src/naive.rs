// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Sequence numbers, counted by somebody who forgets nothing.

use crate::sequence::{SequenceCounts, SequenceTracker, WINDOW};
use dpdk_rs_fuzz::Reader;
use std::collections::HashSet;

/// Sequence numbers have 48 bits.
const NUMBER_MASK: u64 = (1 << 48) - 1;
/// The tracker forgets whole words of its bitmap.
const WORD_BITS: u64 = 64;

/// What [`SequenceTracker`] should count.
#[derive(Debug, Default)]
pub(crate) struct Naive {
    seen: HashSet<u64>,
    next: u64,
    pub(crate) counts: SequenceCounts,
}

impl Naive {
    pub(crate) fn note(&mut self, number: u64) {
        let words_behind = (self.next.saturating_sub(1) / WORD_BITS).saturating_sub(number / WORD_BITS);
        self.counts.frames += 1;
        let late = words_behind >= WINDOW / WORD_BITS;
        let again = !late && !self.seen.insert(number);
        self.counts.late += u64::from(late);
        self.counts.duplicated += u64::from(again);
        self.counts.reordered += u64::from(late || !again && number < self.next);
        self.next = self.next.max(number + 1);
    }
}

/// The tracker counts as the naive one does, whatever numbers come.
pub fn generator_sequence(data: &[u8]) {
    let (mut tracker, mut naive) = (SequenceTracker::new(), Naive::default());
    let mut reader = Reader::new(data);
    let mut number = 0_u64;
    while !reader.is_empty() {
        let kind = reader.below(6);
        let count = match kind {
            0 => 1 + reader.below(WORD_BITS as usize) as u64,
            _ => 1,
        };
        number = match kind {
            0 | 1 => number + 1,
            2 => number + u64::from(reader.u16()),
            3 => number.saturating_sub(u64::from(reader.u16())),
            // Around one window or several, both ways.
            4 => (number + WINDOW * reader.below(4) as u64 + u64::from(reader.byte())).saturating_sub(64),
            _ => (number + u64::from(reader.byte())).saturating_sub(WINDOW + 64),
        };
        if kind == 0 && count == WORD_BITS {
            number = reader.u64() & NUMBER_MASK;
        }
        for number in (number..).take(usize::try_from(count).unwrap_or_default()).map(|number| number & NUMBER_MASK) {
            tracker.note(number);
            naive.note(number);
            assert_eq!(tracker.counts(), naive.counts, "after {number}");
            assert_eq!(tracker.next(), naive.next);
        }
        number = (number + count - 1) & NUMBER_MASK;
    }
}
