// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames that wait for their time.

use core::{cmp::Ordering, time::Duration};
use std::collections::BinaryHeap;

/// A queue from which frames leave in the order of their deadlines, and in the order of their arrival at the same deadline.
/// A frame with a shorter delay overtakes one with a longer delay, as with the jitter of `netem`.
#[derive(Debug)]
pub(crate) struct DelayQueue<T> {
    heap: BinaryHeap<Waiting<T>>,
    arrivals: u64,
}

#[derive(Debug)]
struct Waiting<T> {
    deadline: Duration,
    arrival: u64,
    item: T,
}

impl<T> Waiting<T> {
    fn key(&self) -> (Duration, u64) {
        (self.deadline, self.arrival)
    }
}

/// The first to leave is the greatest, since [`BinaryHeap`] gives the greatest first.
impl<T> Ord for Waiting<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<T> PartialOrd for Waiting<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Waiting<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Waiting<T> {}

impl<T> DelayQueue<T> {
    /// A queue that does not allocate until more than `capacity` frames wait.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        Self { heap: BinaryHeap::with_capacity(capacity), arrivals: 0 }
    }

    /// How many frames wait.
    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    /// Adds a frame that is due at `deadline`.
    pub(crate) fn push(&mut self, deadline: Duration, item: T) {
        self.heap.push(Waiting { deadline, arrival: self.arrivals, item });
        self.arrivals += 1;
    }

    /// The next frame, if it is due.
    pub(crate) fn due(&self, now: Duration) -> Option<&T> {
        self.heap.peek().filter(|first| first.deadline <= now).map(|first| &first.item)
    }

    /// Takes the next frame, due or not.
    pub(crate) fn pop(&mut self) -> Option<T> {
        self.heap.pop().map(|first| first.item)
    }
}

#[cfg(test)]
mod tests {
    use super::DelayQueue;
    use core::time::Duration;

    #[test]
    fn frames_leave_in_the_order_of_their_deadlines_and_not_before() {
        let at = Duration::from_millis;
        let mut queue = DelayQueue::with_capacity(4);
        for (deadline, item) in [(30, 'c'), (10, 'a'), (30, 'd'), (20, 'b'), (30, 'e')] {
            queue.push(at(deadline), item);
        }
        let mut left = Vec::new();
        for now in 0..=30 {
            while queue.due(at(now)).is_some() {
                left.extend(queue.pop().map(|item| (now, item)));
            }
        }
        assert_eq!(left, [(10, 'a'), (20, 'b'), (30, 'c'), (30, 'd'), (30, 'e')]);
        assert_eq!((queue.len(), queue.pop()), (0, None));
    }
}
