// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Whether a request may be sent now.

use crate::plan::Plan;
use core::iter::Peekable;

/// Times are in nanoseconds from the start of the program on.
#[derive(Debug)]
pub(crate) enum Schedule {
    /// No request is sent.
    Pause,
    /// Requests are sent as soon as there is a connection, until this time.
    Closed(u64),
    /// Requests are sent when they are due, and else as soon as there is a connection. Those that wait are not stored: the plan
    /// has not gone on to them.
    Open { start: u64, plan: Peekable<Plan> },
}

impl Schedule {
    /// Takes a request that may be sent, and its planned time if it has one.
    #[inline]
    pub(crate) fn take(&mut self, now: u64) -> Option<Option<u64>> {
        match self {
            Self::Pause => None,
            Self::Closed(end) => (now < *end).then_some(None),
            Self::Open { start, plan } => plan.next_if(|time| *start + time <= now).map(|time| Some(*start + time)),
        }
    }

    /// When the next request is due that has a planned time.
    pub(crate) fn next(&mut self) -> Option<u64> {
        match self {
            Self::Open { start, plan } => plan.peek().map(|time| *start + time),
            _ => None,
        }
    }

    /// Takes all requests that are due, and counts them; `None` in a closed loop.
    pub(crate) fn count(&mut self, now: u64) -> Option<u64> {
        match self {
            Self::Open { .. } => Some(core::iter::from_fn(|| self.take(now)).count() as u64),
            _ => None,
        }
    }
}
