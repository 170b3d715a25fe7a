// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How long the engine may wait before it repeats what the peer does not acknowledge.

use crate::time::Time;

/// The wait after an acknowledgment of new data: the initial one of RFC 1122, section 4.2.3.1.
const FIRST: Time = Time::from_secs(3);

/// The timer for what is repeated, and for probes, is never longer (RFC 6298, section 2.5).
pub(super) const LONGEST: Time = Time::from_secs(60);

/// A bound for the engine's retransmission time-out.
///
/// smoltcp 0.14 doubles its time-out with each repetition, and measures again only when data has passed while nothing was
/// repeated. On a path that loses a tenth that does not come: each loss costs a minute, and two end the connection. Here
/// an acknowledgment of new data ends the doubling, as in Linux.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retransmission {
    /// When new data was acknowledged, sent while nothing was on its way, or repeated.
    since: Time,
    /// Repetitions since data was acknowledged.
    repetitions: u32,
}

impl Retransmission {
    pub(crate) const fn new(now: Time) -> Self {
        Self { since: now, repetitions: 0 }
    }

    /// Data was acknowledged, or sent while nothing was on its way.
    pub(crate) const fn restart(&mut self, now: Time) {
        *self = Self::new(now);
    }

    /// The first of what is on its way is repeated, once or several times now.
    pub(crate) const fn repeat(&mut self, now: Time) {
        if now.as_micros() > self.since.as_micros() {
            self.since = now;
            self.repetitions += 1;
        }
    }

    /// When data is repeated at the latest.
    pub(crate) fn deadline(&self) -> Time {
        let wait = FIRST.as_micros() << self.repetitions.min(5);
        self.since + Time::from_micros(wait).min(LONGEST)
    }
}
