// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! All connections, and which of them sends next.
//!
//! Each connection has at most one request on its way, and all together a limited number. The connection that has been
//! idle for longest is the next, so all take turns. Times are of any unit that only grows.

mod connection;

use crate::addresses;
use crate::back_end::{BackEnd, Reply};
use crate::latency::Latencies;
use crate::segment::{self, ACK_LEN, ARP_LEN, Inbound, REQUEST_LEN, SYN_LEN};
use crate::work::Work;
use connection::{Connection, News, State};
use core::net::Ipv4Addr;
use smoltcp::wire::TcpControl;
use std::collections::VecDeque;

/// So many SYNs are on their way at most: a server keeps few frames for a host whose address it looks for.
const OPENING: usize = 8;

/// What is sent next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outgoing {
    /// The answer to the question for a client's address.
    Arp(Ipv4Addr),
    /// The first segment of a connection.
    Syn(u32),
    /// An acknowledgment.
    Ack(u32),
    /// A request.
    Request(u32),
    /// The last segment of a client's direction.
    Fin(u32),
    /// A segment of a proxy's back end.
    BackEnd(Reply),
}

/// When requests are sent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// Never: answers are awaited and acknowledged.
    Drain,
    /// Never, and all connections are closed.
    Close,
    /// As soon as the limit allows it.
    Full,
    /// As soon as the limit allows it, on connections that are closed after each answer and opened again.
    Churn,
    /// At regular times, whether or not earlier ones are answered: one in each interval. Latencies count from these times, and
    /// those of requests that are due from one time until another are recorded.
    Paced {
        /// The interval.
        interval: f64,
        /// The first time.
        from: u64,
        /// The time after the last one.
        until: u64,
    },
}

/// How long clients wait.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// For an answer, until the request is sent again.
    pub resend: u64,
    /// With the acknowledgment of an answer, if no request takes it along.
    pub acknowledge: u64,
}

/// What was counted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Handshakes.
    pub opened: u64,
    /// Requests sent, each once.
    pub requests: u64,
    /// Correct answers.
    pub answers: u64,
    /// SYNs and requests sent again.
    pub resent: u64,
    /// Segments that the server sent again.
    pub repeated: u64,
    /// Segments that do not answer what was asked, resets and ends, and frames with wrong checksums.
    pub wrong: u64,
}

/// The clients of one server.
#[derive(Debug)]
pub struct Clients {
    connections: Vec<Connection>,
    idle: VecDeque<u32>,
    /// So many of the first idle ones have acknowledged everything.
    acknowledged: usize,
    /// Those that are to be opened.
    closed: VecDeque<u32>,
    /// How many are open.
    open: usize,
    /// How many SYNs are on their way.
    opening: usize,
    in_flight: usize,
    limit: usize,
    /// What goes before requests.
    urgent: VecDeque<Outgoing>,
    /// Connections whose answers have begun to come.
    owed: VecDeque<u32>,
    /// The connection that is looked at next for a lost segment.
    look: usize,
    patience: Patience,
    mode: Mode,
    /// When the next request is due.
    due: f64,
    counters: Counters,
    latencies: Latencies,
    back_end: BackEnd,
}

impl Clients {
    /// So many connections, with so many requests on their way at a time.
    ///
    /// After `per_connection` requests for pages the server closes a connection, and it is opened again; 0: it is not.
    #[must_use]
    pub fn new(
        work: Work,
        connections: u32,
        limit: usize,
        per_connection: u32,
        patience: Patience,
        latencies: Latencies,
    ) -> Self {
        Self {
            connections: (0..connections).map(|number| Connection::new(work, number, per_connection)).collect(),
            idle: VecDeque::with_capacity(connections as usize + 1),
            acknowledged: 0,
            closed: VecDeque::new(),
            open: 0,
            opening: 0,
            in_flight: 0,
            limit,
            urgent: VecDeque::new(),
            owed: VecDeque::new(),
            look: 0,
            patience,
            mode: Mode::Drain,
            due: 0.0,
            counters: Counters::default(),
            latencies,
            back_end: BackEnd::new(),
        }
    }

    /// What was counted.
    #[must_use]
    pub const fn counters(&self) -> Counters {
        self.counters
    }

    /// The latencies of the mode: only [`Mode::Paced`] records them.
    #[must_use]
    pub const fn latencies(&self) -> &Latencies {
        &self.latencies
    }

    /// Opens all connections, which takes as many calls of the others as it takes.
    pub fn open(&mut self) {
        self.closed.extend(0..self.connections.len() as u32);
    }

    /// Changes when requests are sent, and forgets the latencies.
    pub fn set_mode(&mut self, mode: Mode, now: u64) {
        self.mode = mode;
        self.due = now as f64;
        self.latencies.clear();
        if mode == Mode::Close {
            self.acknowledged = 0;
            for number in self.idle.drain(..) {
                self.connections[number as usize].close(now);
                self.urgent.push_back(Outgoing::Fin(number));
                self.in_flight += 1;
            }
        }
    }

    /// Whether all connections are open, or closed if that is the mode, every request has its answer, and every answer its
    /// acknowledgment.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        let are_so = if self.mode == Mode::Close { self.open == 0 } else { self.are_open() };
        are_so && self.in_flight == 0 && self.acknowledged == self.idle.len() && self.urgent.is_empty()
    }

    fn are_open(&self) -> bool {
        self.open == self.connections.len()
    }

    /// Whether each was open once: afterwards none waits for others that are opened again.
    fn were_open(&self) -> bool {
        self.counters.opened >= self.connections.len() as u64
    }

    /// Takes a frame that has come.
    pub fn take(&mut self, frame: &[u8], now: u64) {
        match segment::inbound(frame) {
            Inbound::Arp(address) if addresses::is_ours(address) => {
                self.urgent.push_back(Outgoing::Arp(address));
            }
            Inbound::Tcp(segment) if (segment.to, segment.to_port) == addresses::BACK_END => {
                self.urgent.extend(self.back_end.take(&segment).map(Outgoing::BackEnd));
            }
            Inbound::Tcp(segment) => {
                let number = addresses::number(segment.to, segment.to_port);
                match number.and_then(|number| Some((number, self.connections.get_mut(number as usize)?))) {
                    Some((number, connection)) => {
                        let news = connection.take(&segment, now);
                        self.record(number, &news, now);
                    }
                    None => self.counters.wrong += 1,
                }
            }
            Inbound::Damaged => self.counters.wrong += 1,
            // Linux announces itself in several ways.
            Inbound::Arp(_) | Inbound::Other => (),
        }
    }

    fn record(&mut self, number: u32, news: &News, now: u64) {
        match news {
            News::Opened => {
                self.counters.opened += 1;
                self.opening -= 1;
                self.in_flight -= 1;
                self.urgent.push_back(Outgoing::Ack(number));
                self.open += 1;
                self.idle.push_back(number);
                // When the last one is open for the first time.
                if self.counters.opened == self.connections.len() as u64 {
                    self.acknowledged = self.idle.len();
                    shuffle(self.idle.make_contiguous());
                }
            }
            News::Answered if self.mode == Mode::Churn => {
                self.counters.answers += 1;
                self.connections[number as usize].close(now);
                self.urgent.push_back(Outgoing::Fin(number));
            }
            News::Closed | News::Acknowledged => {
                self.open -= 1;
                self.in_flight -= 1;
                if *news == News::Closed {
                    self.urgent.push_back(Outgoing::Ack(number));
                }
                self.closed.push_back(number);
            }
            News::Answered => {
                self.answered(number, now);
                self.in_flight -= 1;
                self.idle.push_back(number);
            }
            News::LastAnswered(is_ended) => {
                self.answered(number, now);
                if *is_ended {
                    self.end(number, now);
                } else {
                    self.urgent.push_back(Outgoing::Ack(number));
                }
            }
            News::Ended => self.end(number, now),
            News::Repeated => {
                self.counters.repeated += 1;
                self.urgent.push_back(Outgoing::Ack(number));
            }
            News::Continued => {
                // One acknowledgment for all that has come at once.
                if !core::mem::replace(&mut self.connections[number as usize].is_owed, true) {
                    self.owed.push_back(number);
                }
            }
            News::Nothing => (),
            News::Wrong => self.counters.wrong += 1,
        }
    }

    /// Counts an answer, and how long it took.
    fn answered(&mut self, number: u32, now: u64) {
        self.counters.answers += 1;
        let due = self.connections[number as usize].due;
        if let Mode::Paced { from, until, .. } = self.mode
            && (from..until).contains(&due)
        {
            self.latencies.record(now.saturating_sub(due));
        }
    }

    /// Closes a connection whose other direction is closed.
    fn end(&mut self, number: u32, now: u64) {
        self.connections[number as usize].close(now);
        self.urgent.push_back(Outgoing::Fin(number));
    }

    /// What is to be sent now. The caller sends it.
    pub fn next(&mut self, now: u64) -> Option<Outgoing> {
        if let Some(urgent) = self.urgent.pop_front() {
            return Some(urgent);
        }
        while let Some(number) = self.owed.pop_front() {
            if core::mem::take(&mut self.connections[number as usize].is_owed) {
                return Some(Outgoing::Ack(number));
            }
        }
        let may_open = self.mode != Mode::Close && self.in_flight < self.limit && self.opening < OPENING;
        if let Some(number) = self.closed.front().copied().filter(|_| may_open) {
            self.closed.pop_front();
            self.connections[number as usize].open(now);
            self.opening += 1;
            self.in_flight += 1;
            return Some(Outgoing::Syn(number));
        }
        let due = self.due(now).filter(|_| self.in_flight < self.limit);
        due.and_then(|due| self.begin(due, now)).or_else(|| self.acknowledgment(now))
    }

    /// Since when a request is due, if one is.
    fn due(&self, now: u64) -> Option<u64> {
        match self.mode {
            Mode::Drain | Mode::Close => None,
            Mode::Churn => Some(now),
            Mode::Full => self.were_open().then_some(now),
            Mode::Paced { .. } => (self.were_open() && self.due <= now as f64).then_some(self.due as u64),
        }
    }

    fn begin(&mut self, due: u64, now: u64) -> Option<Outgoing> {
        let number = self.idle.pop_front()?;
        self.acknowledged = self.acknowledged.saturating_sub(1);
        self.connections[number as usize].begin(due, now);
        self.in_flight += 1;
        self.counters.requests += 1;
        if let Mode::Paced { interval, .. } = self.mode {
            self.due += interval;
        }
        Some(Outgoing::Request(number))
    }

    fn acknowledgment(&mut self, now: u64) -> Option<Outgoing> {
        let number = *self.idle.get(self.acknowledged)?;
        let waited = now.saturating_sub(self.connections[number as usize].touched);
        if self.mode != Mode::Drain && waited < self.patience.acknowledge {
            return None;
        }
        self.acknowledged += 1;
        Some(Outgoing::Ack(number))
    }

    /// Looks whether one of the connections has waited for too long, with each call at the next one.
    pub fn look_for_loss(&mut self, now: u64) {
        self.look = if self.look + 1 < self.connections.len() { self.look + 1 } else { 0 };
        let Some(connection) = self.connections.get_mut(self.look) else { return };
        let again = match connection.state {
            State::Opening => Outgoing::Syn(self.look as u32),
            State::Waiting => Outgoing::Request(self.look as u32),
            State::Closing | State::LastAck => Outgoing::Fin(self.look as u32),
            State::Closed | State::Idle | State::Ending => return,
        };
        if now.saturating_sub(connection.touched) > self.patience.resend {
            connection.touched = now;
            self.counters.resent += 1;
            self.urgent.push_back(again);
            self.urgent.extend(self.back_end.missing().map(Outgoing::BackEnd));
        }
    }

    /// The length of the frame of what is to be sent, in bytes.
    #[must_use]
    pub fn len_of(&self, outgoing: Outgoing) -> usize {
        match outgoing {
            Outgoing::Arp(_) => ARP_LEN,
            Outgoing::Syn(_) => SYN_LEN,
            Outgoing::Ack(_) | Outgoing::Fin(_) => ACK_LEN,
            Outgoing::Request(_) => REQUEST_LEN,
            Outgoing::BackEnd(reply) => self.back_end.len(reply),
        }
    }

    /// Writes the frame of what is to be sent. `frame` has [its length](Self::len_of); any other is left as it is.
    #[inline]
    pub fn write(&self, outgoing: Outgoing, frame: &mut [u8]) {
        if frame.len() != self.len_of(outgoing) {
            return;
        }
        match outgoing {
            Outgoing::Request(number) => {
                let (request, seq, ack) = self.connections[number as usize].sent();
                if let Ok(frame) = frame.try_into() {
                    request.write(frame, seq, ack);
                }
            }
            Outgoing::Arp(address) => segment::write_arp(frame, address),
            Outgoing::Syn(number) => self.write_empty(frame, number, TcpControl::Syn, 0),
            Outgoing::Ack(number) => self.write_empty(frame, number, TcpControl::None, 0),
            Outgoing::BackEnd(reply) => self.back_end.write(reply, frame),
            Outgoing::Fin(number) => self.write_empty(frame, number, TcpControl::Fin, 1),
        }
    }

    /// A segment whose sequence number is so much before the next one.
    fn write_empty(&self, frame: &mut [u8], number: u32, control: TcpControl, before: u32) {
        let (seq, ack) = self.connections[number as usize].numbers();
        segment::write_segment(frame, addresses::client(number), control, seq.wrapping_sub(before), ack, &[]);
    }
}

/// In an order that no prefetcher guesses, the same each time.
fn shuffle(numbers: &mut [u32]) {
    let mut random = 1_u64;
    for last in (1..numbers.len()).rev() {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        numbers.swap(last, (random >> 33) as usize % (last + 1));
    }
}
