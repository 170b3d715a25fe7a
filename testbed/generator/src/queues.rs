// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The queues of a port, used in turn.

/// RX or TX queues of one port. A virtual wire carries the frames of a TX queue to the RX queue of the same number, so
/// using the queues in turn spreads the frames over the queues of the other side.
#[derive(Debug)]
pub(crate) struct Queues<T> {
    queues: Vec<T>,
    next: usize,
}

impl<T> Queues<T> {
    /// `None` without queues.
    pub(crate) fn new(queues: Vec<T>) -> Option<Self> {
        (!queues.is_empty()).then_some(Self { queues, next: 0 })
    }

    /// The queue whose turn it is.
    #[inline]
    pub(crate) fn take_turn(&mut self) -> Option<&mut T> {
        let current = self.next;
        self.next = if current + 1 < self.queues.len() { current + 1 } else { 0 };
        self.queues.get_mut(current)
    }
}

#[cfg(test)]
mod tests {
    use super::Queues;

    #[test]
    fn each_in_turn() {
        let mut queues = Queues::new(vec!['a', 'b', 'c']).into_iter().next();
        let order: String = (0..7).filter_map(|_| queues.as_mut()?.take_turn().copied()).collect();
        assert_eq!(order, "abcabca");
        assert!(Queues::<char>::new(Vec::new()).is_none());
    }
}
