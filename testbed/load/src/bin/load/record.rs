// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is counted and timed in a step, and whether that is valid.

use crate::error::Error;
use core::ops::AddAssign;
use serde::Serialize;
use testbed_load::Latencies;

/// A step is invalid if the 99th percentile of the lag is longer.
const MOST_LAG_NS: u64 = 1_000_000;
/// A step is invalid if the program was without a CPU for a larger part of the time.
const MOST_ABSENT: f64 = 0.1;
/// A step is invalid if a larger part of the planned requests was not sent by its end.
const MOST_UNSENT: f64 = 0.01;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counters {
    pub(crate) sent: u64,
    pub(crate) answered: u64,
    /// Answers that were not as expected.
    pub(crate) wrong: u64,
    /// Connections that were opened.
    pub(crate) opened: u64,
    /// Attempts to open a connection that failed.
    pub(crate) refused: u64,
    /// Connections that ended and should not have.
    pub(crate) broken: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        self.sent += other.sent;
        self.answered += other.answered;
        self.wrong += other.wrong;
        self.opened += other.opened;
        self.refused += other.refused;
        self.broken += other.broken;
        self.bytes_sent += other.bytes_sent;
        self.bytes_received += other.bytes_received;
    }
}

/// A step.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) counters: Counters,
    /// `None` in a closed loop.
    pub(crate) planned: Option<u64>,
    /// Requests that were answered before the end.
    pub(crate) in_time: u64,
    /// From the planned time on.
    pub(crate) latency: Latencies,
    /// From the time on at which the request was sent.
    pub(crate) service_time: Latencies,
    /// How long a request was not sent although it was due and there was a connection.
    pub(crate) lag: Latencies,
    /// What was wrong with the first wrong answer.
    pub(crate) first_wrong: Option<String>,
    pub(crate) duration_ns: u64,
    /// How long the program had a CPU, and how long it had nothing to do.
    pub(crate) cpu_ns: u64,
    pub(crate) waited_ns: u64,
}

impl Record {
    pub(crate) fn new() -> Result<Self, Error> {
        let times = || Latencies::new().map_err(Error::failed);
        Ok(Self {
            counters: Counters::default(),
            planned: None,
            in_time: 0,
            latency: times()?,
            service_time: times()?,
            lag: times()?,
            first_wrong: None,
            duration_ns: 0,
            cpu_ns: 0,
            waited_ns: 0,
        })
    }

    pub(crate) fn cpu_share(&self) -> f64 {
        self.share(self.cpu_ns)
    }

    /// The share of the time in which the program had something to do and no CPU: it then sends late, and reads answers late.
    pub(crate) fn absent_share(&self) -> f64 {
        self.share(self.duration_ns.saturating_sub(self.cpu_ns + self.waited_ns))
    }

    fn share(&self, nanos: u64) -> f64 {
        nanos as f64 / self.duration_ns.max(1) as f64
    }

    /// Why it is invalid, a sentence each.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let Counters { sent, .. } = self.counters;
        let mut reasons = self.faults();
        let lag = self.lag.percentile(99.0);
        if lag > MOST_LAG_NS {
            let (lag, most) = (lag as f64 / 1e6, MOST_LAG_NS as f64 / 1e6);
            reasons.push(format!(
                "the load generator was late: the 99th percentile of its lag is {lag:.3} ms, above {most} ms"
            ));
        }
        let absent = self.absent_share();
        if absent > MOST_ABSENT {
            let (absent, most) = (absent * 100.0, MOST_ABSENT * 100.0);
            reasons.push(format!("the load generator was without a CPU for {absent:.1} % of the time, above {most} %"));
        }
        let unsent = self.planned.unwrap_or(sent).saturating_sub(sent);
        let share = unsent as f64 / (sent + unsent).max(1) as f64;
        if share > MOST_UNSENT {
            reasons.push(format!(
                "planned requests that were not sent: {unsent} of {}, {:.1} % and not {} % at most, since no connection was free",
                sent + unsent,
                share * 100.0,
                MOST_UNSENT * 100.0
            ));
        }
        reasons
    }

    /// What went wrong, whatever the load.
    pub(crate) fn faults(&self) -> Vec<String> {
        let Counters { sent, answered, wrong, refused, broken, .. } = self.counters;
        let mut faults = Vec::new();
        let lost = sent.saturating_sub(answered + wrong);
        if lost > 0 {
            faults.push(format!("requests without an answer: {lost} of {sent}"));
        }
        if wrong > 0 {
            let first = self.first_wrong.as_deref().unwrap_or_default();
            faults.push(format!("wrong answers: {wrong}, the first one because {first}"));
        }
        if broken > 0 {
            faults.push(format!("broken connections: {broken}"));
        }
        if refused > 0 {
            faults.push(format!("failed attempts to open a connection: {refused}"));
        }
        faults
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{Counters, Record};

    fn record(counters: Counters, planned: Option<u64>) -> Record {
        Record { counters, planned, ..Record::new().unwrap() }
    }

    #[test]
    fn what_was_done_as_planned_is_valid() {
        let counters = Counters { sent: 1_000, answered: 1_000, opened: 5, ..Counters::default() };
        for planned in [None, Some(1_000), Some(1_010)] {
            assert_eq!(record(counters, planned).reasons(), [""; 0]);
        }
        assert_eq!(record(Counters::default(), Some(0)).reasons(), [""; 0]);
    }

    #[test]
    fn each_reason_has_its_figures() {
        let right = Counters { sent: 900, answered: 900, ..Counters::default() };
        let reasons = record(right, Some(1_000)).reasons();
        assert_eq!(
            reasons,
            [
                "planned requests that were not sent: 100 of 1000, 10.0 % and not 1 % at most, since no connection was free"
            ]
        );

        let mut late = record(right, Some(900));
        (0..98).for_each(|_| late.lag.record(1_000));
        (0..2).for_each(|_| late.lag.record(2_500_000));
        let [reason] = &late.reasons()[..] else { unreachable!() };
        assert!(reason.starts_with("the load generator was late: the 99th percentile of its lag is 2.5"), "{reason}");

        let counters = Counters { sent: 10, answered: 6, wrong: 1, broken: 3, refused: 2, ..Counters::default() };
        let wrong = Record { first_wrong: Some("its status is 404, and not 200".to_owned()), ..record(counters, None) };
        let expected = [
            "requests without an answer: 3 of 10",
            "wrong answers: 1, the first one because its status is 404, and not 200",
            "broken connections: 3",
            "failed attempts to open a connection: 2",
        ];
        assert_eq!(wrong.reasons(), expected);
    }

    #[test]
    fn a_program_without_a_cpu_is_late_too() {
        let times = |cpu_ns, waited_ns| {
            let counters = Counters { sent: 9, answered: 9, ..Counters::default() };
            Record { cpu_ns, waited_ns, duration_ns: 1_000, ..record(counters, None) }.reasons()
        };
        assert_eq!([times(0, 1_000), times(950, 0), times(500, 600)], [const { Vec::<String>::new() }; 3]);
        assert_eq!(times(300, 450), ["the load generator was without a CPU for 25.0 % of the time, above 10 %"]);
    }

    #[test]
    fn a_lag_of_a_few_requests_is_allowed() {
        let mut record = record(Counters { sent: 1_000, answered: 1_000, ..Counters::default() }, Some(1_000));
        (0..995).for_each(|_| record.lag.record(1_000));
        (0..5).for_each(|_| record.lag.record(50_000_000));
        assert_eq!(record.reasons(), [""; 0]);
    }
}
