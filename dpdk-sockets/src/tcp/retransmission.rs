// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How long the engine may wait before it repeats what the peer does not acknowledge.

use super::round_trip::RoundTrip;
use crate::time::Time;
use smoltcp::wire::TcpSeqNumber;

/// The wait while no acknowledgment was measured: the initial one of RFC 1122, section 4.2.3.1. The engine's is 1 s.
const FIRST: Time = Time::from_secs(3);

/// The timer for what is repeated, and for probes, is never longer (RFC 6298, section 2.5).
pub(super) const LONGEST: Time = Time::from_secs(60);

/// A bound for the engine's retransmission time-out.
///
/// smoltcp 0.14 waits for 1 s at least, doubles its time-out with each repetition, and measures again only when data has passed
/// while nothing was repeated. On a path that loses a tenth that does not come: each loss costs a minute, and two end the
/// connection. Here the time-out is as short as the program allows, and an acknowledgment of new data ends the doubling, as in
/// Linux.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Retransmission {
    /// When new data was acknowledged, sent while nothing was on its way, or repeated.
    since: Time,
    /// Repetitions since data was acknowledged.
    repetitions: u32,
    round_trip: RoundTrip,
}

impl Retransmission {
    pub(crate) const fn new(now: Time) -> Self {
        Self { since: now, repetitions: 0, round_trip: RoundTrip::NONE }
    }

    /// Data was acknowledged, or sent while nothing was on its way.
    pub(crate) const fn restart(&mut self, now: Time) {
        (self.since, self.repetitions) = (now, 0);
    }

    /// New data before this number was sent.
    pub(crate) fn sent(&mut self, end: TcpSeqNumber, now: Time) {
        self.round_trip.sent(end, now);
    }

    /// The peer has got more: all before this number.
    pub(crate) fn acknowledged(&mut self, number: TcpSeqNumber, now: Time) {
        self.round_trip.acknowledged(number, now);
        self.restart(now);
    }

    /// What was sent counts as a repetition.
    pub(crate) const fn count(&mut self) {
        self.repetitions += 1;
    }

    /// The first of what is on its way is repeated, once or several times now.
    pub(crate) const fn repeat(&mut self, now: Time) {
        if now.as_micros() > self.since.as_micros() {
            self.since = now;
            self.repetitions += 1;
            self.round_trip.forget();
        }
    }

    /// When data is repeated at the latest, if not before `least` has passed.
    pub(crate) fn deadline(&self, least: Time) -> Time {
        let wait = self.round_trip.timeout(least).unwrap_or(FIRST).as_micros() << self.repetitions.min(10);
        self.since + Time::from_micros(wait).min(LONGEST)
    }
}
