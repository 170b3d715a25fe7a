// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A model of a reorder buffer's contents, which is needed before DPDK inserts a packet: DPDK overwrites a packet with
//! the same number, and a ready packet for which there is no room.

use super::error::ReorderError;

/// Waiting packets have one slot for each number from the minimum on. Packets that have waited long enough are ready.
#[derive(Debug)]
pub(super) struct Window {
    waiting: Box<[bool]>,
    /// The slot of the minimum.
    head: usize,
    min: u32,
    ready: usize,
    len: usize,
}

/// DPDK's steps for a number, in this order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// The number of slots that are given up. The packets in them become ready.
    skipped: usize,
    moved: usize,
    /// The slot of the number, counted from the new minimum.
    place: usize,
}

impl Window {
    /// An empty window. `size` is a power of two.
    pub(super) fn new(size: usize) -> Self {
        Self { waiting: vec![false; size].into_boxed_slice(), head: 0, min: 0, ready: 0, len: 0 }
    }

    pub(super) const fn size(&self) -> usize {
        self.waiting.len()
    }

    pub(super) const fn len(&self) -> usize {
        self.len
    }

    pub(super) const fn min(&self) -> u32 {
        self.min
    }

    /// Starts with `min` as the minimum, without packets.
    pub(super) const fn start(&mut self, min: u32) {
        self.min = min;
    }

    /// The steps for a number, if DPDK can take them without losing a packet.
    pub(super) fn step(&self, seqn: u32) -> Result<Step, ReorderError> {
        let (size, place) = (self.size(), seqn.wrapping_sub(self.min) as usize);
        if place >= 2 * size {
            return Err(ReorderError::Range { seqn, min: self.min, size: 2 * size });
        }
        if place < size {
            let step = Step { skipped: 0, moved: 0, place };
            return if self.waits(place) { Err(ReorderError::Duplicate(seqn)) } else { Ok(step) };
        }
        // DPDK keeps one of the ready slots free.
        let (needed, room) = (place + 1 - size, size - 1 - self.ready);
        let (mut skipped, mut moved) = (0, 0);
        while skipped < needed {
            if moved == room {
                return Err(ReorderError::Full);
            }
            if !self.waits(skipped) {
                skipped += 1;
            }
            // Consecutive packets become ready together, even more than needed.
            while self.waits(skipped) {
                if moved == room {
                    return Err(ReorderError::Full);
                }
                moved += 1;
                skipped += 1;
            }
        }
        Ok(Step { skipped, moved, place: place - skipped })
    }

    /// Records that DPDK has taken the steps.
    pub(super) fn done(&mut self, step: Step) {
        self.advance(step.skipped);
        self.ready += step.moved;
        let place = self.place(step.place);
        self.set(place, true);
        self.len += 1;
    }

    /// Records that DPDK has returned `count` packets: first the ready ones, then those from the minimum on.
    pub(super) fn drained(&mut self, count: usize) {
        let ready = self.ready.min(count);
        self.ready -= ready;
        self.len -= count;
        self.advance(count - ready);
    }

    fn advance(&mut self, places: usize) {
        for _ in 0..places {
            self.set(self.head, false);
            self.head = self.place(1);
        }
        // At most the number of slots.
        self.min = self.min.wrapping_add(places as u32);
    }

    fn set(&mut self, place: usize, waits: bool) {
        if let Some(entry) = self.waiting.get_mut(place) {
            *entry = waits;
        }
    }

    /// The slot that is `behind` slots after that of the minimum.
    const fn place(&self, behind: usize) -> usize {
        (self.head + behind) & (self.size() - 1)
    }

    /// Whether a packet waits `behind` slots after the minimum.
    fn waits(&self, behind: usize) -> bool {
        behind < self.size() && self.waiting.get(self.place(behind)).is_some_and(|waits| *waits)
    }
}

#[cfg(test)]
mod tests {
    use super::{ReorderError, Window};
    use std::collections::BTreeSet;

    /// What the window stands for: the packets that wait, by their distance from the minimum, and how many are ready.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Naive {
        waiting: BTreeSet<usize>,
        ready: usize,
    }

    impl Naive {
        /// DPDK's way: as long as the number is beyond the window, one number without a packet is given up, and the
        /// packets after it become ready. It does not begin without room for a ready packet.
        fn insert(&mut self, place: usize, size: usize) -> Result<usize, ReorderError> {
            let (mut next, mut moved) = (self.clone(), 0);
            while place - moved >= size {
                if next.ready == size - 1 {
                    return Err(ReorderError::Full);
                }
                if !next.waiting.contains(&0) {
                    next.advance();
                    moved += 1;
                }
                while next.waiting.remove(&0) {
                    if next.ready == size - 1 {
                        return Err(ReorderError::Full);
                    }
                    next.ready += 1;
                    next.advance();
                    moved += 1;
                }
            }
            let place = place - moved;
            if !next.waiting.insert(place) {
                return Err(ReorderError::Duplicate(0));
            }
            *self = next;
            Ok(moved)
        }

        fn advance(&mut self) {
            self.waiting = self.waiting.iter().map(|waiting| waiting - 1).collect();
        }

        /// Takes the ready packets first, then those without a gap.
        fn drain(&mut self) {
            if self.ready > 0 {
                self.ready -= 1;
            } else {
                assert!(self.waiting.remove(&0), "nothing is left to drain");
                self.advance();
            }
        }
    }

    fn window(naive: &Naive, size: usize, min: u32, head: usize) -> Window {
        let mut window = Window::new(size);
        (window.min, window.head, window.ready) = (min, head, naive.ready);
        window.len = naive.ready + naive.waiting.len();
        naive.waiting.iter().for_each(|place| window.set((head + place) & (size - 1), true));
        window
    }

    fn naive(window: &Window) -> Naive {
        Naive { waiting: (0..window.size()).filter(|place| window.waits(*place)).collect(), ready: window.ready }
    }

    /// Every state of small windows, wherever their array begins, with every number that is in range or next to it.
    #[test]
    fn every_step_of_a_small_window_is_dpdks() {
        for size in [1_usize, 2, 4, 8] {
            for (bits, ready, head) in (0..1_usize << size)
                .flat_map(|bits| (0..size).map(move |ready| (bits, ready)))
                .flat_map(|(bits, ready)| (0..size).map(move |head| (bits, ready, head)))
            {
                let waiting = (0..size).filter(|place| bits >> place & 1 == 1).collect();
                let before = Naive { waiting, ready };
                // The sequence numbers wrap in some of the steps.
                let min = u32::MAX - 5;
                for place in (0..2 * size + 2).chain([usize::MAX]) {
                    let seqn = min.wrapping_add(place as u32);
                    let (mut window, mut after) = (window(&before, size, min, head), before.clone());
                    let step = window.step(seqn);
                    if place >= 2 * size {
                        assert_eq!(step.err(), Some(ReorderError::Range { seqn, min, size: 2 * size }));
                        continue;
                    }
                    match (step, after.insert(place, size)) {
                        (Ok(step), Ok(moved)) => {
                            window.done(step);
                            assert_eq!((naive(&window), window.min()), (after.clone(), min.wrapping_add(moved as u32)));
                            assert_eq!(window.len(), before.waiting.len() + before.ready + 1, "no packet is lost");
                        }
                        (Err(ReorderError::Duplicate(_)), Err(ReorderError::Duplicate(_)))
                        | (Err(ReorderError::Full), Err(ReorderError::Full)) => (),
                        (step, naive) => assert_eq!(step.map(drop), naive.map(drop), "{before:?}, {place} of {size}"),
                    }
                }
                let mut after = before.clone();
                let run = (0..).take_while(|place| before.waiting.contains(place)).count();
                for count in 0..=ready + run {
                    let mut window = window(&before, size, min, head);
                    window.drained(count);
                    let moved = count.saturating_sub(ready) as u32;
                    assert_eq!((naive(&window), window.min()), (after.clone(), min.wrapping_add(moved)));
                    if count < ready + run {
                        after.drain();
                    }
                }
            }
        }
    }
}
