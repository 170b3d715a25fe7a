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
