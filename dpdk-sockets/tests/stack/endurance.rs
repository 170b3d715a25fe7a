// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Connections come and go for three minutes, or for as many hours of the test's clock as `DPDK_SOCKETS_HOURS` says: they open,
//! exchange data, are idle, and close, at random times. One segment of each may be lost. None is left, and no timer was late.

use crate::pair::{IPV4, byte, echo};
use core::net::SocketAddr;
use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_sockets::watch::TcpState;
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{Config, ConnectionId, Counters, Ended, Event, IpNet, Stack};
use rand::{RngExt as _, SeedableRng as _, rngs::Xoshiro256PlusPlus};
use smoltcp::wire::{EthernetFrame, EthernetProtocol, IpProtocol, Ipv4Packet, TcpPacket, TcpSeqNumber};
use std::collections::{HashMap, HashSet};
use std::env;
use std::time::Instant;

/// A connection begins once in so long, on average.
const BETWEEN: Duration = Duration::from_secs(4);
/// Between two exchanges, a connection is idle for so long at most.
const LONGEST_IDLE: Duration = Duration::from_secs(200);
const MOST_EXCHANGES: u32 = 6;
const LONGEST_REQUEST: usize = 20_000;
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// A segment is repeated after this time, since round trips are short (RFC 6298, section 2.4).
const REPETITION: Duration = Duration::from_secs(1);
/// A timer has a tick of a millisecond, the stacks are polled at its time or up to a millisecond later, and the peer's
/// answer to what is sent then comes up to three polls later.
const MOST_LATE: Duration = Duration::from_millis(5);
/// Of so many segments with data, a SYN or a FIN, one is lost, if no other one of its connection was.
const LOST: u32 = 50;

/// A connection, as the client's program has it.
struct Client {
    number: usize,
    /// Of requests; all come back.
    sent: usize,
    received: usize,
    /// The end of the current request.
    target: usize,
    exchanges: u32,
    /// When it does the next thing. Nothing, while a request is on its way.
    due: Option<Duration>,
}

/// A direction of a connection: the sender's and the receiver's port, and which of the two hosts has sent it.
type Way = (u16, u16, usize);

struct World {
    /// The server and the client.
    stacks: [Stack<Memory>; 2],
    remote: SocketAddr,
    now: Duration,
    random: Xoshiro256PlusPlus,
    clients: HashMap<ConnectionId, Client>,
    /// What the server has to send back.
    held: HashMap<ConnectionId, Vec<u8>>,
    opened: usize,
    probes: usize,
    /// Connections, by the client's port, of which a segment was lost.
    hurt: HashSet<u16>,
    lost: usize,
    /// What was lost, when, and has not come again.
    missing: HashMap<Way, (TcpSeqNumber, Duration)>,
    latest_probe: Duration,
    latest_repetition: Duration,
}

impl World {
    fn new() -> Self {
        let addresses = IPV4.map(|address| address.parse::<IpNet>().unwrap());
        let mut stacks = [0, 1].map(|number| {
            let mut config = Config::new(MacAddr([2, 0, 0, 0, 0, number as u8]), addresses[number]);
            config.keep_alive = Some(KEEP_ALIVE);
            config.min_retransmission_timeout = REPETITION;
            (config.receive_buffer, config.send_buffer) = (8_192, 8_192);
            Stack::new(Memory::default(), config).unwrap()
        });
        stacks[0].listen(80).unwrap();
        Self {
            stacks,
            remote: (addresses[0].addr(), 80).into(),
            now: Duration::ZERO,
            random: Xoshiro256PlusPlus::seed_from_u64(1),
            clients: HashMap::new(),
            held: HashMap::new(),
            opened: 0,
            probes: 0,
            hurt: HashSet::new(),
            lost: 0,
            missing: HashMap::new(),
            latest_probe: Duration::ZERO,
            latest_repetition: Duration::ZERO,
        }
    }

    /// A random time up to `most`.
    fn time(&mut self, most: Duration) -> Duration {
        Duration::from_micros(self.random.random_range(1..=most.as_micros() as u64))
    }

    fn open(&mut self) {
        let id = self.stacks[1].connect(self.remote).unwrap();
        let client = Client { number: self.opened, sent: 0, received: 0, target: 0, exchanges: 0, due: None };
        self.clients.insert(id, client);
        self.opened += 1;
        // Another connection may have had the port before.
        self.hurt.remove(&self.stacks[1].info(id).unwrap().local.port());
    }

    /// What the programs do: the server sends back what it gets, the clients do what is due. Returns whether any was.
    fn work(&mut self) -> bool {
        let [server, client] = &mut self.stacks;
        echo(server, &mut self.held);
        let mut idle = Vec::new();
        while let Some(event) = client.next_event() {
            match event {
                Event::Connected(id) => idle.push(id),
                Event::Readable(id) | Event::Writable(id) => {
                    let state = self.clients.get_mut(&id).unwrap();
                    let mut bytes = [0; 4_096];
                    while let Some(len @ 1..) = client.recv(id, &mut bytes).unwrap() {
                        let expected = |offset| byte(state.number, state.received + offset);
                        assert!(bytes[..len].iter().enumerate().all(|(offset, got)| *got == expected(offset)));
                        state.received += len;
                    }
                    let rest: Vec<_> = (state.sent..state.target).map(|place| byte(state.number, place)).collect();
                    if !rest.is_empty() {
                        state.sent += client.send(id, &rest).unwrap();
                    } else if state.received == state.target && state.due.is_none() {
                        idle.push(id);
                    }
                }
                Event::Ended(id, how) => {
                    assert_eq!(how, Ended::Closed);
                    let state = self.clients.remove(&id).unwrap();
                    assert_eq!([state.sent, state.received], [state.target; 2]);
                    client.close(id).unwrap();
                }
                other => panic!("{other:?}"),
            }
        }
        for id in idle {
            let at = self.now + self.time(LONGEST_IDLE);
            self.clients.get_mut(&id).unwrap().due = Some(at);
        }
        let is_due = |client: &Client| client.due.is_some_and(|due| due <= self.now);
        let mut due: Vec<_> = self.clients.iter().filter(|(_, client)| is_due(client)).map(|(id, _)| *id).collect();
        due.sort_unstable();
        for id in due.iter().copied() {
            let len = self.random.random_range(1..=LONGEST_REQUEST);
            let is_last = self.random.random_ratio(1, MOST_EXCHANGES);
            let (state, client) = (self.clients.get_mut(&id).unwrap(), &mut self.stacks[1]);
            if is_last || state.exchanges == MOST_EXCHANGES {
                state.due = Some(Duration::MAX);
                client.shutdown(id).unwrap();
                continue;
            }
            (state.due, state.target, state.exchanges) = (None, state.target + len, state.exchanges + 1);
            let bytes: Vec<_> = (state.sent..state.target).map(|place| byte(state.number, place)).collect();
            state.sent += client.send(id, &bytes).unwrap();
        }
        !due.is_empty()
    }

    /// Moves frames. Returns whether there were any.
    fn exchange(&mut self) -> bool {
        let mut is_busy = false;
        for from in [0, 1] {
            self.stacks[from].wire_mut().now = self.now;
            is_busy |= self.stacks[from].poll() > 0;
            let frames: Vec<_> = self.stacks[from].wire_mut().from_stack.drain(..).collect();
            is_busy |= !frames.is_empty();
            for frame in frames {
                if !self.is_lost(from, &frame) {
                    self.stacks[1 - from].wire_mut().to_stack.push_back(frame);
                }
            }
        }
        is_busy
    }

    /// Looks at a frame, and whether it is lost.
    fn is_lost(&mut self, from: usize, bytes: &[u8]) -> bool {
        let frame = EthernetFrame::new_checked(bytes).unwrap();
        if frame.ethertype() != EthernetProtocol::Ipv4 {
            return false;
        }
        let ip = Ipv4Packet::new_checked(frame.payload()).unwrap();
        assert_eq!(ip.next_header(), IpProtocol::Tcp);
        let tcp = TcpPacket::new_checked(ip.payload()).unwrap();
        assert!(!tcp.rst());
        let (seq, len) = (tcp.seq_number(), tcp.segment_len());
        let way = (tcp.src_port(), tcp.dst_port(), from);
        if let Some((lost, at)) = self.missing.get(&way).copied()
            && seq <= lost
            && seq + len > lost
        {
            self.latest_repetition = self.latest_repetition.max((self.now - at).saturating_sub(REPETITION));
            self.missing.remove(&way);
            return false;
        }
        // A probe of a silent peer has one octet.
        self.probes += usize::from(len == 1 && !tcp.syn() && !tcp.fin());
        let port = if from == 1 { way.0 } else { way.1 };
        if len == 0 || (len == 1 && !tcp.syn() && !tcp.fin()) || !self.random.random_ratio(1, LOST) {
            return false;
        }
        if !self.hurt.insert(port) {
            return false;
        }
        self.missing.insert(way, (seq, self.now));
        self.lost += 1;
        true
    }

    /// No connection has waited for a timer for too long. Returns when the next one is due.
    fn check(&mut self) -> Option<Duration> {
        let mut next: Option<Duration> = None;
        for info in self.stacks.iter().flat_map(Stack::list) {
            // What is on its way is repeated instead.
            if info.state == TcpState::Established && info.in_flight == 0 {
                let late = info.since_heard.saturating_sub(KEEP_ALIVE);
                assert!(late <= MOST_LATE, "a keep-alive is late by {late:?}: {info:?}");
                self.latest_probe = self.latest_probe.max(late);
            }
            let at = info.timer.map(|timer| self.now + timer);
            next = next.into_iter().chain(at).min();
        }
        for (way, (_, lost)) in &self.missing {
            let late = (self.now - *lost).saturating_sub(REPETITION);
            assert!(late <= MOST_LATE, "a repetition is late by {late:?}: {way:?}");
        }
        next
    }

    /// A step: the time moves by less than a millisecond while there is something to do, and else until a timer or a program is
    /// due, or until `opens`.
    fn step(&mut self, opens: Option<Duration>) {
        let is_busy = self.exchange() | self.work();
        let timer = self.check();
        let soon = self.now + self.time(Duration::from_millis(1));
        let programs = self.clients.values().filter_map(|client| client.due).filter(|due| *due != Duration::MAX);
        let next = programs.chain(timer).chain(opens).min();
        self.now = next.filter(|next| *next > soon && !is_busy).unwrap_or(soon);
    }
}

/// What must not happen on this path.
fn losses(counters: &Counters) -> Vec<(&'static str, u64)> {
    let expected =
        ["frames", "idle_micros", "segments_received", "segments_sent", "bytes_received", "bytes_sent", "retransmits"];
    let expected = expected.into_iter().chain(["out_of_order", "duplicates", "connects", "connected", "accepted"]);
    let expected: HashSet<_> = expected.chain(["ended_closed"]).collect();
    counters.iter().filter(|(name, value)| *value > 0 && !expected.contains(name)).collect()
}

#[test]
#[allow(clippy::print_stdout, reason = "for those who ask for more hours")]
fn connections_come_and_go_for_long() {
    let hours: f64 = env::var("DPDK_SOCKETS_HOURS").map_or(0.05, |number| number.parse().unwrap());
    let end = Duration::from_secs_f64(hours * 3_600.0);
    let start = Instant::now();
    let mut world = World::new();
    let (mut steps, mut most, mut opens) = (0_u64, 0, Duration::ZERO);
    loop {
        if opens < end && world.now >= opens {
            world.open();
            opens += world.time(BETWEEN * 2);
        }
        world.step((opens < end).then_some(opens));
        steps += 1;
        most = most.max(world.clients.len());
        if opens >= end && world.clients.is_empty() && world.held.is_empty() {
            break;
        }
    }
    println!(
        "{} connections, {most} at once, in {:?} of the test's clock: {} probes, {} segments lost, {steps} steps in {:?}",
        world.opened,
        world.now,
        world.probes,
        world.lost,
        start.elapsed()
    );
    println!("late by {:?} at most: probes; {:?}: repetitions", world.latest_probe, world.latest_repetition);
    assert!(world.probes > 0 && world.lost > 0);
    assert_eq!(world.missing, HashMap::new());
    let opened = world.opened as u64;
    let [server, client] = &mut world.stacks;
    assert_eq!([server.connections(), client.connections()], [0; 2]);
    assert_eq!((client.counters().connected, server.counters().accepted), (opened, opened));
    for stack in [server, client] {
        let counters = stack.counters();
        assert_eq!((counters.ended_closed, losses(&counters)), (opened, vec![]), "{counters:?}");
        assert_eq!(counters.bytes_sent, counters.bytes_received);
        // Until TIME-WAIT is over.
        stack.wire_mut().now = world.now + Duration::from_secs(61);
        stack.poll();
        assert_eq!((stack.time_waits(), stack.next_event(), stack.wire().from_stack.len()), (0, None, 0));
    }
}
