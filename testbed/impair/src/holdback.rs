// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames that later ones overtake.

use std::collections::VecDeque;

/// Holds frames back until `gap` later ones have passed.
#[derive(Debug)]
pub(crate) struct Holdback<T> {
    gap: u64,
    passed: u64,
    /// With the value of `passed` that frees each.
    held: VecDeque<(u64, T)>,
}

impl<T> Holdback<T> {
    /// Holds each frame until `gap` others have passed.
    pub(crate) fn new(gap: u64) -> Self {
        Self { gap, passed: 0, held: VecDeque::new() }
    }

    /// How many frames are held back.
    pub(crate) fn len(&self) -> usize {
        self.held.len()
    }

    /// Holds a frame back.
    pub(crate) fn hold(&mut self, item: T) {
        self.held.push_back((self.passed + self.gap, item));
    }

    /// Counts a frame that passes.
    pub(crate) fn pass(&mut self) {
        self.passed += 1;
    }

    /// Takes the next frame that enough others have passed.
    pub(crate) fn next_free(&mut self) -> Option<T> {
        let free = self.held.front().is_some_and(|(free_at, _)| *free_at <= self.passed);
        if free { self.pop() } else { None }
    }

    /// Takes the next frame, whatever has passed.
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.held.pop_front().map(|(_, item)| item)
    }
}

#[cfg(test)]
mod tests {
    use super::Holdback;

    #[test]
    fn a_frame_leaves_after_the_gap() {
        let mut holdback = Holdback::new(2);
        let mut order = Vec::new();
        for item in 0..8 {
            // 1, 2 and 5 are held back; only the others pass.
            if [1, 2, 5].contains(&item) {
                holdback.hold(item);
                continue;
            }
            order.push(item);
            holdback.pass();
            while let Some(free) = holdback.next_free() {
                order.push(free);
            }
        }
        assert_eq!(order, [0, 3, 4, 1, 2, 6, 7, 5]);
        assert_eq!(holdback.len(), 0);
        holdback.hold(8);
        assert_eq!((holdback.next_free(), holdback.len(), holdback.pop(), holdback.pop()), (None, 1, Some(8), None));
    }
}
