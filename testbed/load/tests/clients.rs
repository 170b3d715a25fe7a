// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The clients of a race against a stack in memory, by a clock of their own.

#![allow(clippy::panic, clippy::unwrap_used)]

use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{Config, ConnectionId, Event, IpNet, Stack};
use testbed_load::{Clients, Latencies, Mode, PORT, PREFIX_LEN, Patience, SERVER, SERVER_MAC, Work};

/// A server in memory and its clients. The unit of time is a microsecond.
struct Race {
    stack: Stack<Memory>,
    clients: Clients,
    now: u64,
    /// What the server does with data before it sends it back.
    change: fn(&mut [u8]),
}

impl Race {
    fn new(connections: u32, limit: usize) -> Self {
        let config = Config::new(MacAddr(SERVER_MAC.0), IpNet::new_assert(SERVER.into(), PREFIX_LEN));
        let mut stack = Stack::new(Memory::default(), config).unwrap();
        stack.listen(PORT).unwrap();
        let patience = Patience { resend: 500_000, acknowledge: 40_000 };
        let clients = Clients::new(Work::Echo, connections, limit, 0, patience, Latencies::new().unwrap());
        Self { stack, clients, now: 0, change: |_| () }
    }

    /// Each side in turn.
    fn step(&mut self) {
        self.now += 10;
        self.stack.wire_mut().now = Duration::from_micros(self.now);
        self.clients.look_for_loss(self.now);
        while let Some(outgoing) = self.clients.next(self.now) {
            let mut frame = vec![0; self.clients.len_of(outgoing)];
            self.clients.write(outgoing, &mut frame);
            self.stack.wire_mut().to_stack.push_back(frame);
        }
        self.stack.poll();
        while let Some(event) = self.stack.next_event() {
            match event {
                Event::Readable(id) => self.echo(id),
                Event::Ended(id, _) => self.stack.close(id).unwrap(),
                _ => (),
            }
        }
        self.stack.poll();
        while let Some(frame) = self.stack.wire_mut().from_stack.pop_front() {
            self.clients.take(&frame, self.now);
        }
    }

    fn echo(&mut self, id: ConnectionId) {
        let mut bytes = [0; 128];
        while let Ok(Some(len)) = self.stack.recv(id, &mut bytes) {
            if len == 0 {
                return self.stack.shutdown(id).unwrap();
            }
            (self.change)(&mut bytes);
            self.stack.send(id, &bytes[..len]).unwrap();
        }
    }

    fn run_until(&mut self, what: &str, is_so: impl Fn(&Clients) -> bool) {
        for _ in 0..200_000 {
            self.step();
            if is_so(&self.clients) {
                return;
            }
        }
        panic!("not {what}: {:?}, {:?}", self.clients.counters(), self.stack.counters());
    }

    fn open(connections: u32, limit: usize) -> Self {
        let mut race = Self::new(connections, limit);
        race.step();
        assert_eq!(race.clients.counters().opened, 0);
        race.clients.open();
        race.run_until("open", Clients::is_quiet);
        race
    }
}

#[test]
fn every_request_of_many_connections_is_answered() {
    let mut race = Race::open(300, 64);
    assert_eq!(race.clients.counters().opened, 300);
    race.clients.set_mode(Mode::Full, race.now);
    race.run_until("answered", |clients| clients.counters().answers >= 3_000);
    race.clients.set_mode(Mode::Drain, race.now);
    race.run_until("quiet", Clients::is_quiet);
    let counters = race.clients.counters();
    assert_eq!(counters.requests, counters.answers);
    assert_eq!((counters.resent, counters.repeated, counters.wrong), (0, 0, 0));
    assert_eq!((race.stack.counters().damaged, race.stack.connections()), (0, 300));
}

#[test]
fn connections_are_closed_after_an_answer_and_opened_again() {
    let mut race = Race::open(12, 8);
    race.clients.set_mode(Mode::Churn, race.now);
    race.run_until("answered", |clients| clients.counters().answers >= 200);
    let opened = race.clients.counters().opened;
    assert!((180..=212).contains(&opened), "{opened}");
    race.clients.set_mode(Mode::Drain, race.now);
    race.run_until("quiet", Clients::is_quiet);
    let counters = race.clients.counters();
    assert_eq!(counters.requests, counters.answers);
    assert_eq!((counters.resent, counters.repeated, counters.wrong), (0, 0, 0));
    // All are open again, and the server has forgotten the others.
    assert_eq!(race.stack.connections(), 12);
}

#[test]
fn the_same_ports_are_used_again_at_once() {
    let mut race = Race::open(1, 1);
    race.clients.set_mode(Mode::Churn, race.now);
    race.run_until("answered", |clients| clients.counters().answers >= 20);
    assert_eq!(race.clients.counters().resent, 0);
}

#[test]
fn a_quiet_client_has_acknowledged_everything() {
    let mut race = Race::open(8, 4);
    race.clients.set_mode(Mode::Full, race.now);
    race.run_until("answered", |clients| clients.counters().answers >= 100);
    race.clients.set_mode(Mode::Drain, race.now);
    race.run_until("quiet", Clients::is_quiet);
    // Longer than any retransmission time-out: whatever is not acknowledged would come again.
    race.now += 10_000_000;
    race.step();
    race.step();
    assert_eq!(race.clients.counters().repeated, 0);
}

#[test]
fn what_is_lost_is_sent_again() {
    let mut race = Race::open(4, 4);
    race.clients.set_mode(Mode::Full, race.now);
    race.step();
    let answers = race.clients.counters().answers;
    while let Some(outgoing) = race.clients.next(race.now) {
        // Lost.
        assert!(matches!(outgoing, testbed_load::Outgoing::Request(_)));
    }
    race.clients.set_mode(Mode::Drain, race.now);
    race.run_until("quiet", Clients::is_quiet);
    assert_eq!(race.clients.counters().resent, 4);
    assert_eq!(race.clients.counters().answers, answers + 4);
}

#[test]
fn another_answer_than_the_request_is_wrong() {
    for change in [|bytes: &mut [u8]| bytes[3] ^= 1, |bytes: &mut [u8]| bytes[99] ^= 1] {
        let mut race = Race::open(1, 1);
        race.change = change;
        race.clients.set_mode(Mode::Full, race.now);
        race.step();
        race.step();
        assert_eq!((race.clients.counters().answers, race.clients.counters().wrong), (0, 1));
    }
}

#[test]
fn paced_requests_leave_on_time_and_latencies_count_from_then() {
    let mut race = Race::open(16, 16);
    let (before, start) = (race.clients.counters().requests, race.now);
    race.clients.set_mode(Mode::Paced { interval: 25.0, from: start, until: start + 2_001 }, start);
    while race.now < start + 1_000 {
        race.step();
    }
    assert_eq!(race.clients.counters().requests - before, 41);
    assert_eq!(race.clients.latencies().summary().map(|all| all.count), Some(41));
    // One step at most.
    assert!(race.clients.latencies().percentile(100.0) <= 10);
    // The clients are held up for a millisecond: the requests due meanwhile are late by up to that time.
    race.now += 1_000;
    race.step();
    race.step();
    race.step();
    let late = race.clients.latencies().percentile(100.0);
    assert!((980..=1_000).contains(&late), "{late}");
    assert_eq!(race.clients.counters().requests - before, 82);
    // One of them was due after the end.
    assert_eq!(race.clients.latencies().summary().map(|all| all.count), Some(81));
}
