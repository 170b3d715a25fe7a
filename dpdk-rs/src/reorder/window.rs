// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is in a reorder buffer, as far as has to be known before DPDK is asked to put something in: it writes over a packet that has
//! the same number, and over one for which there is no room among those that are ready.

use super::ReorderError;

/// Packets that wait for others have a place for each number from the least on; those that have waited long enough are ready.
#[derive(Debug)]
pub(super) struct Window {
    waiting: Box<[bool]>,
    /// The place of the least number.
    head: usize,
    min: u32,
    ready: usize,
    len: usize,
}

/// What DPDK does for a number, in this order.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// So many places are given up, and the packets in them become ready.
    skipped: usize,
    moved: usize,
    /// The place behind the new least number.
    place: usize,
}

impl Window {
    /// An empty one. `size` is a power of two.
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

    /// Begins with a number, without packets.
    pub(super) const fn start(&mut self, min: u32) {
        self.min = min;
    }

    /// What DPDK would do for a number, if it can without losing a packet.
    pub(super) fn step(&self, seqn: u32) -> Result<Step, ReorderError> {
        let (size, place) = (self.size(), seqn.wrapping_sub(self.min) as usize);
        if place >= 2 * size {
            return Err(ReorderError::Range { seqn, min: self.min, size: 2 * size });
        }
        if place < size {
            let step = Step { skipped: 0, moved: 0, place };
            return if self.waits(place) { Err(ReorderError::Duplicate(seqn)) } else { Ok(step) };
        }
        // DPDK keeps one place of the ready ones free.
        let (needed, room) = (place + 1 - size, size - 1 - self.ready);
        let (mut skipped, mut moved) = (0, 0);
        while skipped < needed {
            if moved == room {
                return Err(ReorderError::Full);
            }
            if !self.waits(skipped) {
                skipped += 1;
            }
            // Those that follow each other become ready together, also behind what is needed.
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

    /// DPDK has done it.
    pub(super) fn done(&mut self, step: Step) {
        self.advance(step.skipped);
        self.ready += step.moved;
        let place = self.place(step.place);
        self.set(place, true);
        self.len += 1;
    }

    /// DPDK has given so many packets: first those that are ready, then those from the least number on.
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
        // Not more than the window has places.
        self.min = self.min.wrapping_add(places as u32);
    }

    fn set(&mut self, place: usize, waits: bool) {
        if let Some(entry) = self.waiting.get_mut(place) {
            *entry = waits;
        }
    }

    /// The place that is so many behind that of the least number.
    const fn place(&self, behind: usize) -> usize {
        (self.head + behind) & (self.size() - 1)
    }

    /// Whether a packet waits so many places behind the least number.
    fn waits(&self, behind: usize) -> bool {
        behind < self.size() && self.waiting.get(self.place(behind)).is_some_and(|waits| *waits)
    }
}
