// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Many connections at the same time between two stacks: 2,000, or as many as `DPDK_SOCKETS_CONNECTIONS` says, up to 100,000.

use crate::pair::{IPV4, Pair, byte, echo};
use core::net::SocketAddr;
use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_sockets::{Config, ConnectionId, Ended, Event};
use std::collections::HashMap;
use std::time::Instant;
use std::{env, fs};

/// What each connection sends and gets back, in bytes.
const BYTES: usize = 1_200;
/// What a buffer holds: not everything, so that windows close.
const BUFFER: usize = 1_000;
/// A peer's port has no more connections from one address: as many as there are dynamic ports (RFC 6335).
const MOST_PER_PORT: usize = 16_384;
const FIRST_PORT: u16 = 80;

/// One of the client's connections.
struct Client {
    number: usize,
    sent: usize,
    received: usize,
}

struct Crowd {
    pair: Pair,
    clients: HashMap<ConnectionId, Client>,
    /// What the server has to send back.
    held: HashMap<ConnectionId, Vec<u8>>,
    steps: usize,
}

impl Crowd {
    fn step(&mut self) {
        self.steps += 1;
        assert!(self.steps < 1_000_000, "connections hang");
        self.pair.step();
        echo(&mut self.pair.server, &mut self.held);
    }

    /// Opens all connections. They are open at the same time.
    fn open(&mut self, connections: usize) {
        for number in 0..connections {
            let port = FIRST_PORT + (number / MOST_PER_PORT) as u16;
            let id = self.pair.client.connect(SocketAddr::new(self.pair.remote.ip(), port)).unwrap();
            self.clients.insert(id, Client { number, sent: 0, received: 0 });
        }
        let mut connected = 0;
        while self.held.len() < connections || connected < connections {
            self.step();
            while let Some(event) = self.pair.client.next_event() {
                assert!(matches!(event, Event::Connected(_)), "{event:?}");
                connected += 1;
            }
        }
        assert_eq!([&self.pair.client, &self.pair.server].map(|stack| stack.connections()), [connections; 2]);
    }

    /// Every connection sends its bytes, and gets exactly them back.
    fn exchange(&mut self) {
        let mut left = self.clients.len();
        for id in self.clients.keys().copied().collect::<Vec<_>>() {
            self.send(id);
        }
        while left > 0 {
            self.step();
            while let Some(event) = self.pair.client.next_event() {
                let (Event::Readable(id) | Event::Writable(id)) = event else { panic!("{event:?}") };
                self.send(id);
                let client = self.clients.get_mut(&id).unwrap();
                let mut bytes = [0; BUFFER];
                while let Some(len) = self.pair.client.recv(id, &mut bytes).unwrap() {
                    let expected = |offset| byte(client.number, client.received + offset);
                    assert!(bytes[..len].iter().enumerate().all(|(offset, got)| *got == expected(offset)));
                    client.received += len;
                    left -= usize::from(client.received == BYTES);
                }
            }
        }
        assert!(self.clients.values().all(|client| client.received == BYTES));
    }

    fn send(&mut self, id: ConnectionId) {
        let client = self.clients.get_mut(&id).unwrap();
        let rest: Vec<_> = (client.sent..BYTES).map(|position| byte(client.number, position)).collect();
        client.sent += self.pair.client.send(id, &rest).unwrap();
    }

    /// Closes all connections. Nothing is left of them.
    fn close(&mut self) {
        for id in self.clients.keys() {
            self.pair.client.shutdown(*id).unwrap();
        }
        while !(self.clients.is_empty() && self.held.is_empty()) {
            self.step();
            while let Some(event) = self.pair.client.next_event() {
                match event {
                    Event::Readable(id) => assert_eq!(self.pair.client.recv(id, &mut [0]), Ok(Some(0))),
                    Event::Ended(id, how) => {
                        assert_eq!(how, Ended::Closed);
                        self.pair.client.close(id).unwrap();
                        self.clients.remove(&id).unwrap();
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        assert_eq!([&self.pair.client, &self.pair.server].map(|stack| stack.connections()), [0; 2]);
        // Until TIME-WAIT is over.
        for stack in [&mut self.pair.client, &mut self.pair.server] {
            stack.wire_mut().now += Duration::from_secs(61);
            while stack.poll() > 0 {}
            assert_eq!((stack.next_event(), stack.wire().from_stack.len()), (None, 0));
        }
    }
}

/// Says how long it took, and how much memory the process has now and had at most.
#[allow(clippy::print_stdout, reason = "for those who ask for more connections")]
fn report(start: Instant, what: &str, connections: usize) {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let memory = status.lines().filter(|line| line.starts_with("VmRSS") || line.starts_with("VmHWM"));
    println!("{connections} connections {what} after {:?}: {}", start.elapsed(), memory.collect::<Vec<_>>().join(", "));
}

/// Twice, so that whatever is left of the first time would be in the way of the second.
#[test]
fn many_connections_are_open_at_the_same_time() {
    let connections: usize = env::var("DPDK_SOCKETS_CONNECTIONS").map_or(2_000, |number| number.parse().unwrap());
    let mut crowd = Crowd { pair: Pair::new(IPV4, 0, BUFFER), clients: HashMap::new(), held: HashMap::new(), steps: 0 };
    for port in 1..connections.div_ceil(MOST_PER_PORT) {
        crowd.pair.server.listen(FIRST_PORT + port as u16).unwrap();
    }
    let start = Instant::now();
    for _ in 0..2 {
        crowd.open(connections);
        report(start, "opened", connections);
        crowd.exchange();
        report(start, "used", connections);
        crowd.close();
        report(start, "closed", connections);
    }
    let is_over_backlog = connections > Config::new(MacAddr([2, 0, 0, 0, 0, 1]), IPV4[0].parse().unwrap()).backlog;
    assert_eq!(crowd.pair.server.counters().cookies > 0, is_over_backlog);
}
