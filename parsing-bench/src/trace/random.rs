// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Pseudo-random numbers that are the same on every machine: SplitMix64, whose state is a counter.

/// A source of numbers.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below a small bound, for which the bias is negligible.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.number() % limit.max(1) as u64) as usize
    }

    /// One of several values.
    pub(super) fn one_of<T: Copy, const N: usize>(&mut self, values: [T; N]) -> T {
        const { assert!(N > 0) };
        values[self.below(N)]
    }

    /// Random bytes.
    pub(super) fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.number() as u8).collect()
    }

    /// An array of them.
    pub(super) fn array<const N: usize>(&mut self) -> [u8; N] {
        core::array::from_fn(|_| self.number() as u8)
    }

    /// Each value as often as given, in random order.
    pub(super) fn shuffled<T: Copy>(&mut self, shares: &[(T, usize)]) -> Vec<T> {
        let mut values: Vec<T> = shares.iter().flat_map(|(value, share)| vec![*value; *share]).collect();
        for last in (1..values.len()).rev() {
            values.swap(last, self.below(last + 1));
        }
        values
    }
}
