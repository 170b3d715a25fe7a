// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! One of the connections.

use crate::service::Exchange;

/// What a connection does. Times are in nanoseconds from the start of the program on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It is opened anew later, or not at all.
    Closed,
    Opening,
    /// It has had no request since this time.
    Idle(u64),
    /// It has a request on its way.
    Busy {
        /// `None` in a closed loop.
        planned: Option<u64>,
        sent: u64,
    },
    /// It has had its last request, and the service closes it.
    Leaving,
}

#[derive(Debug)]
pub(crate) struct Connection<I> {
    pub(crate) id: Option<I>,
    pub(crate) state: State,
    pub(crate) exchange: Exchange,
    /// So many requests it has had.
    pub(crate) requests: u64,
}

impl<I> Default for Connection<I> {
    fn default() -> Self {
        Self { id: None, state: State::Closed, exchange: Exchange::default(), requests: 0 }
    }
}

impl<I> Connection<I> {
    /// Whether something has to come.
    pub(crate) const fn is_waiting(&self) -> bool {
        matches!(self.state, State::Busy { .. } | State::Leaving)
    }
}
