// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The commands on the telemetry socket, which the polling thread carries out between two polls.

use core::ops::Range;
use core::time::Duration;
use dpdk_rs::telemetry::{TelemetryCommand, TelemetryError, Value};
use dpdk_rs::{Clock, Eal};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use testbed_load::{Counters, Latencies, Mode};

/// Until a new rate is steady. Who has asked has gone to sleep by then.
const SETTLE: Duration = Duration::from_millis(200);

/// Who sends requests, or asks for streams.
pub(super) trait Load {
    /// Opens all connections.
    fn open(&mut self);

    fn set_mode(&mut self, mode: Mode, now: u64);

    /// Whether all connections are open, and nothing is on its way.
    fn is_quiet(&self) -> bool;

    fn counters(&self) -> Counters;

    /// Those of [`Mode::Paced`], if there is such a mode.
    fn latencies(&self) -> Option<&Latencies>;
}

/// What is asked, and for whom the answer is.
type Question = (Ask, SyncSender<Value>);

enum Ask {
    Open,
    Run,
    /// Requests a second, and for how many milliseconds latencies are recorded.
    Pace(u64, u64),
    Churn,
    Drain,
    Close,
    Counters,
    Latencies,
}

/// The commands, their questions, and the time in polls that found nothing.
pub(super) struct Control {
    questions: Receiver<Question>,
    start: u64,
    last: u64,
    was_empty: bool,
    idle: u64,
    /// When latencies are recorded, and the longest poll in that time.
    recorded: Range<u64>,
    longest: u64,
    _commands: Vec<TelemetryCommand>,
}

impl Control {
    /// Registers the commands.
    pub(super) fn new(eal: &Eal) -> Result<Self, TelemetryError> {
        let (sender, questions) = channel();
        let command = |name: &str, help: &str, ask: fn(&str) -> Ask| {
            let sender = sender.clone();
            eal.register_telemetry(name, help, move |text| asked(&sender, ask(text)))
        };
        let commands = vec![
            command("/race/churn", "Sends one request on each connection, and opens it again", |_| Ask::Churn)?,
            command("/race/run", "Sends as many requests as possible", |_| Ask::Run)?,
            command("/race/pace", "Sends RATE requests a second, and records latencies for MS milliseconds", |text| {
                let (rate, millis) = text.split_once(',').unwrap_or((text, ""));
                Ask::Pace(rate.parse().unwrap_or(1), millis.parse().unwrap_or(0))
            })?,
            command("/race/drain", "Sends no more requests", |_| Ask::Drain)?,
            command("/race/close", "Closes all connections", |_| Ask::Close)?,
            command("/race/counters", "Returns what was counted since the start", |_| Ask::Counters)?,
            command("/race/latencies", "Returns what /race/pace has recorded, in ns", |_| Ask::Latencies)?,
            // The last one: whoever is answered finds all others.
            command("/race/open", "Opens all connections", |_| Ask::Open)?,
        ];
        let start = eal.clock().now().cycles();
        Ok(Self {
            questions,
            start,
            last: start,
            was_empty: false,
            idle: 0,
            recorded: 0..0,
            longest: 0,
            _commands: commands,
        })
    }

    /// Takes the time of a poll, which began `now`, and answers a question if there is one.
    pub(super) fn answer(&mut self, clients: &mut impl Load, now: u64, is_empty: bool, clock: Clock) {
        // The one before has lasted until now.
        let elapsed = now - self.last;
        self.idle += if self.was_empty { elapsed } else { 0 };
        if self.recorded.contains(&self.last) {
            self.longest = self.longest.max(elapsed);
        }
        (self.last, self.was_empty) = (now, is_empty);
        let Ok((ask, answer)) = self.questions.try_recv() else { return };
        let value = match ask {
            Ask::Open => {
                clients.open();
                self.set(clients, Mode::Drain, now)
            }
            Ask::Churn => self.set(clients, Mode::Churn, now),
            Ask::Run => self.set(clients, Mode::Full, now),
            Ask::Pace(rate, millis) => {
                let from = now + clock.cycles(SETTLE);
                let until = from + clock.cycles(Duration::from_millis(millis));
                self.recorded = from..until;
                self.set(clients, Mode::Paced { interval: clock.hz() as f64 / rate.max(1) as f64, from, until }, now)
            }
            Ask::Drain => self.set(clients, Mode::Drain, now),
            Ask::Close => self.set(clients, Mode::Close, now),
            Ask::Counters => self.counters(clients, clock),
            Ask::Latencies => self.latencies(clients, clock),
        };
        let _ = answer.send(value); // the thread that asked may be gone
    }

    fn set(&mut self, clients: &mut impl Load, mode: Mode, now: u64) -> Value {
        clients.set_mode(mode, now);
        self.longest = 0;
        Value::dict([("quiet", Value::from(u64::from(clients.is_quiet())))])
    }

    fn latencies(&self, clients: &impl Load, clock: Clock) -> Value {
        let all = clients.latencies().and_then(Latencies::summary);
        let Some(all) = all else { return Value::dict([("count", Value::from(0_u64))]) };
        let nanos = |cycles| Value::from(clock.duration(cycles).as_nanos() as u64);
        Value::dict([
            ("count", Value::from(all.count)),
            ("mean", nanos(all.mean as u64)),
            ("standard_deviation", nanos(all.standard_deviation as u64)),
            ("p50", nanos(all.p50)),
            ("p75", nanos(all.p75)),
            ("p90", nanos(all.p90)),
            ("p99", nanos(all.p99)),
            ("p99_9", nanos(all.p99_9)),
            ("p99_99", nanos(all.p99_99)),
            ("max", nanos(all.max)),
            ("tm99_9", nanos(all.tm99_9 as u64)),
            ("pause", nanos(self.longest)),
        ])
    }

    fn counters(&self, clients: &impl Load, clock: Clock) -> Value {
        let counters = clients.counters();
        let nanos = |cycles| Value::from(clock.duration(cycles).as_nanos() as u64);
        Value::dict([
            ("opened", Value::from(counters.opened)),
            ("requests", counters.requests.into()),
            ("answers", counters.answers.into()),
            ("resent", counters.resent.into()),
            ("repeated", counters.repeated.into()),
            ("wrong", counters.wrong.into()),
            ("quiet", u64::from(clients.is_quiet()).into()),
            ("ns", nanos(self.last - self.start)),
            ("idle_ns", nanos(self.idle)),
        ])
    }
}

/// Hands a question to the polling thread, and waits for its answer.
fn asked(sender: &Sender<Question>, ask: Ask) -> Value {
    let (answer, answers) = sync_channel(1);
    if sender.send((ask, answer)).is_err() {
        return Value::from("ended");
    }
    answers.recv().unwrap_or_else(|_| Value::from("ended"))
}
