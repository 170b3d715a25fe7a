// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The steps of a run, and its loop.

mod requests;

use crate::{
    args::{Options, Rate},
    connection::{Connection, State},
    error::Error,
    plan::Plan,
    progress::Progress,
    record::{Counters, Record},
    schedule::Schedule,
    service::Asker,
};
use core::{mem, net::SocketAddr, time::Duration};
use nix::time::{ClockId, clock_gettime};
use services::sockets::{Event, Sockets};
use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};

/// So much is read at a time.
const ROOM: usize = 65_536;
/// At the start so many connections are opened in a millisecond: backlogs are short, and servers busy.
const OPENED_TOGETHER: usize = 64;
/// How long opening these may take, and how long answers are waited for after a step.
const PATIENCE_NS: u64 = 10_000_000_000;
/// A connection that was refused or broken is opened anew after so long.
const RETRY_NS: u64 = 100_000_000;
/// Before a planned time the program polls for so long: the kernel wakes it up a little late.
const SPIN_NS: u64 = 100_000;
/// After a request it polls for so long, if an answer is to come: waking up would be a large part of a short latency.
const WATCH_NS: u64 = 1_000_000;
/// Timers of longer waits are less exact (0.1 %).
const LONGEST_WAIT_NS: u64 = 50_000_000;
const MILLISECOND_NS: u64 = 1_000_000;

/// Why connections to an address cannot be opened.
type Reason = fn(SocketAddr) -> String;

/// A load generator. Times are in nanoseconds from its start on.
pub(crate) struct Load<S: Sockets> {
    sockets: S,
    to: SocketAddr,
    reason: Reason,
    stop: Arc<AtomicBool>,
    start: Instant,
    connections: Vec<Connection<S::Id>>,
    per_connection: Option<u64>,
    /// The numbers of connections by their places.
    numbers: Vec<usize>,
    /// The numbers of those that are idle, the longest idle first.
    idle: VecDeque<usize>,
    /// The numbers of those that are opened anew, and when.
    retries: VecDeque<(u64, usize)>,
    asker: Asker,
    schedule: Schedule,
    /// Which step this is; 0 is the warm-up.
    step: usize,
    end: u64,
    /// When the last request was sent.
    sent: u64,
    /// The time in polls that were to wait.
    waited: u64,
    record: Record,
    /// What was counted before.
    totals: Counters,
    is_closing: bool,
    progress: Progress,
    events: Vec<Event<S::Id>>,
    room: Vec<u8>,
}

impl<S: Sockets> Load<S> {
    pub(crate) fn new(sockets: S, options: &Options, reason: Reason, stop: Arc<AtomicBool>) -> Result<Self, Error> {
        let Options { service, to, connections, per_connection, seed, .. } = *options;
        Ok(Self {
            sockets,
            to,
            reason,
            stop,
            start: Instant::now(),
            connections: (0..connections).map(|_| Connection::default()).collect(),
            per_connection,
            numbers: Vec::new(),
            idle: VecDeque::new(),
            retries: VecDeque::new(),
            asker: Asker::new(service, to, seed),
            schedule: Schedule::Pause,
            step: 0,
            end: 0,
            sent: 0,
            waited: 0,
            record: Record::new()?,
            totals: Counters::default(),
            is_closing: false,
            progress: Progress::new(),
            events: Vec::new(),
            room: vec![0; ROOM],
        })
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Opens all connections. Returns how long that took, in seconds.
    pub(crate) fn open_all(&mut self) -> Result<f64, Error> {
        let all = self.connections.len();
        let (mut begun, mut last) = (0, self.now());
        while self.idle.len() < all {
            let open = self.idle.len();
            if open == begun && self.now() >= last + MILLISECOND_NS {
                last = self.now();
                begun = all.min(open + OPENED_TOGETHER);
                (open..begun).try_for_each(|number| self.open(number))?;
            }
            // A server on the same CPU has it meanwhile.
            let until = if open < begun { self.now() + LONGEST_WAIT_NS } else { last + MILLISECOND_NS };
            self.turn(until)?;
            if self.record.counters.refused > 0 || self.now() > last + PATIENCE_NS {
                return Err(self.cannot_open());
            }
            if self.is_stopped() {
                return Err(Error::Failed(format!("interrupted while {open} of {all} connections were open")));
            }
        }
        Ok(self.now() as f64 / 1e9)
    }

    /// Sends requests for so long, and waits for the answers. The seed is that of a Poisson process.
    pub(crate) fn step(&mut self, step: usize, rate: Rate, seconds: f64, seed: Option<u64>) -> Result<Record, Error> {
        self.begin_record()?;
        self.step = step;
        let (start, cpu, waited) = (self.now(), cpu_time_ns(), self.waited);
        self.end = start + (seconds * 1e9) as u64;
        self.schedule = match rate {
            Rate::Max => Schedule::Closed(self.end),
            Rate::Planned { from, to } => Schedule::Open { start, plan: Plan::new(from, to, seconds, seed).peekable() },
        };
        while self.now() < self.end && !self.is_stopped() {
            self.turn(self.end)?;
        }
        // What was due at the very end.
        self.send_due()?;
        self.end = self.end.min(self.now());
        let unsent = self.schedule.count(self.end);
        self.record.planned = unsent.map(|unsent| self.record.counters.sent + unsent);
        self.record.duration_ns = self.end - start;
        (self.record.cpu_ns, self.record.waited_ns) = (cpu_time_ns() - cpu, self.waited - waited);
        self.schedule = Schedule::Pause;
        for number in self.wait_for_answers()? {
            self.record.counters.broken += 1;
            self.retry(number);
        }
        self.begin_record()
    }

    /// Closes all connections. Returns what went wrong meanwhile.
    pub(crate) fn close_all(&mut self) -> Result<Record, Error> {
        self.is_closing = true;
        self.retries.clear();
        for number in 0..self.connections.len() {
            match self.connections[number].state {
                State::Idle(_) => self.leave(number)?,
                _ => self.give_back(number, S::close),
            }
        }
        self.idle.clear();
        for number in self.wait_for_answers()? {
            self.record.counters.broken += u64::from(!self.connections[number].exchange.is_answered());
            self.give_back(number, S::close);
        }
        self.begin_record()
    }

    /// What was counted since the start.
    pub(crate) fn totals(&self) -> Counters {
        let mut totals = self.totals;
        totals += self.record.counters;
        totals
    }

    /// Returns the record, and begins another one.
    fn begin_record(&mut self) -> Result<Record, Error> {
        self.totals += self.record.counters;
        Ok(mem::replace(&mut self.record, Record::new()?))
    }

    /// Waits for all answers and ends that are to come. Returns the numbers of the connections on which they did not.
    fn wait_for_answers(&mut self) -> Result<Vec<usize>, Error> {
        let deadline = self.now() + PATIENCE_NS;
        while self.connections.iter().any(Connection::is_waiting) && self.now() < deadline {
            self.turn(deadline)?;
        }
        Ok((0..self.connections.len()).filter(|number| self.connections[*number].is_waiting()).collect())
    }

    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Sends what is due, waits for something to happen, but not for longer than until this time, and handles it.
    fn turn(&mut self, until: u64) -> Result<(), Error> {
        let now = self.now();
        if self.progress.is_due(now) {
            self.progress.print(now, self.step, self.totals());
        }
        while let Some(&(time, number)) = self.retries.front()
            && time <= now
        {
            self.retries.pop_front();
            self.open(number)?;
        }
        self.send_due()?;
        let (wait, since) = (self.wait(until), self.now());
        let mut events = mem::take(&mut self.events);
        self.sockets.poll(&mut events, wait).map_err(Error::failed)?;
        if !wait.is_zero() {
            self.waited += self.now() - since;
        }
        for event in events.drain(..) {
            self.handle(event)?;
            // One event after the other: there may be many.
            self.send_due()?;
        }
        self.events = events;
        Ok(())
    }

    /// How long nothing has to be done. The kernel's sockets wait for whole milliseconds.
    fn wait(&mut self, until: u64) -> Duration {
        let due = if self.idle.is_empty() { None } else { self.schedule.next() };
        let retry = self.retries.front().map(|(time, _)| *time);
        let next = [due, retry].into_iter().flatten().fold(until, u64::min);
        let now = self.now();
        if self.idle.len() < self.connections.len() && now - self.sent < WATCH_NS {
            return Duration::ZERO;
        }
        let wait = next.saturating_sub(now + SPIN_NS).min(LONGEST_WAIT_NS);
        Duration::from_millis(wait / MILLISECOND_NS)
    }

    /// Sends the requests that may be sent, as long as connections are free.
    #[inline]
    fn send_due(&mut self) -> Result<(), Error> {
        while !self.idle.is_empty() {
            let Some(planned) = self.schedule.take(self.now()) else { break };
            if let Some(number) = self.idle.pop_front() {
                self.ask(number, planned)?;
            }
        }
        Ok(())
    }
}

/// The CPU time of this thread.
fn cpu_time_ns() -> u64 {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map_or(Duration::ZERO, Duration::from).as_nanos() as u64
}
