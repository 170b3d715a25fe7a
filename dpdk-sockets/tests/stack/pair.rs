// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Two stacks on one wire, which loses and reorders.

use core::net::SocketAddr;
use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{Config, ConnectionId, Ended, Event, IpNet, Stack};
use std::collections::HashMap;

/// The addresses of a server and a client.
pub(crate) type Hosts = [&'static str; 2];

pub(crate) const IPV4: Hosts = ["192.0.2.1/24", "192.0.2.2/24"];
pub(crate) const IPV6: Hosts = ["2001:db8::1/64", "2001:db8::2/64"];

pub(crate) struct Pair {
    pub(crate) server: Stack<Memory>,
    pub(crate) client: Stack<Memory>,
    pub(crate) remote: SocketAddr,
    random: u64,
    /// Of 1,000 frames.
    lost: u64,
}

impl Pair {
    /// Two stacks with so many bytes in each buffer of a connection.
    pub(crate) fn new(hosts: Hosts, lost: u64, buffer: usize) -> Self {
        let addresses = hosts.map(|address| address.parse::<IpNet>().unwrap());
        let [mut server, client] = [(1, addresses[0]), (2, addresses[1])].map(|(last, address)| {
            let mut config = Config::new(MacAddr([2, 0, 0, 0, 0, last]), address);
            (config.receive_buffer, config.send_buffer) = (buffer, buffer);
            Stack::new(Memory::default(), config).unwrap()
        });
        server.listen(80).unwrap();
        Self { server, client, remote: (addresses[0].addr(), 80).into(), random: 1, lost }
    }

    fn dice(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.random >> 33
    }

    /// Moves frames, and the time by a tenth of a millisecond.
    pub(crate) fn step(&mut self) {
        self.server.poll();
        self.client.poll();
        let to_client: Vec<_> = self.server.wire_mut().from_stack.drain(..).collect();
        let to_server: Vec<_> = self.client.wire_mut().from_stack.drain(..).collect();
        for (frames, is_client) in [(to_client, true), (to_server, false)] {
            for frame in frames {
                if self.dice() % 1_000 < self.lost {
                    continue;
                }
                let at_front = self.lost > 0 && self.dice().is_multiple_of(20);
                let stack = if is_client { &mut self.client } else { &mut self.server };
                let queue = &mut stack.wire_mut().to_stack;
                if at_front { queue.push_front(frame) } else { queue.push_back(frame) }
            }
        }
        let now = self.client.wire().now + Duration::from_micros(100);
        (self.client.wire_mut().now, self.server.wire_mut().now) = (now, now);
    }
}

/// What a client sends: other bytes on each connection.
pub(crate) fn byte(number: usize, position: usize) -> u8 {
    (position * 7 + position / 256 + number * 31 + number / 256) as u8
}

/// The server sends back what it gets, until its peer closes.
pub(crate) fn echo(server: &mut Stack<Memory>, held: &mut HashMap<ConnectionId, Vec<u8>>) {
    while let Some(event) = server.next_event() {
        match event {
            Event::Accepted(_, id) => assert!(held.insert(id, Vec::new()).is_none()),
            Event::Readable(id) | Event::Writable(id) => {
                let bytes = held.get_mut(&id).unwrap();
                let mut buffer = [0; 4_096];
                let mut is_at_end = false;
                while let Some(len) = server.recv(id, &mut buffer).unwrap() {
                    bytes.extend(&buffer[..len]);
                    if len == 0 {
                        is_at_end = true;
                        break;
                    }
                }
                let sent = server.send(id, bytes).unwrap_or(0);
                bytes.drain(..sent);
                if is_at_end && bytes.is_empty() {
                    let _ = server.shutdown(id);
                }
            }
            Event::Ended(id, how) => {
                assert_eq!(how, Ended::Closed);
                held.remove(&id).unwrap();
                server.close(id).unwrap();
            }
            other => panic!("{other:?}"),
        }
    }
}

/// So many connections send so many bytes each, and get them back.
fn run(hosts: Hosts, connections: usize, bytes: usize, (lost, seed): (u64, u64)) {
    let mut pair = Pair::new(hosts, lost, 65_535);
    pair.random = seed;
    let mut held = HashMap::new();
    let remote = pair.remote;
    let mut open: HashMap<_, _> = (0..connections).map(|_| (pair.client.connect(remote).unwrap(), (0, 0))).collect();
    let byte = |position: usize, id: ConnectionId| (position as u64 ^ slotmap::Key::data(&id).as_ffi()) as u8;
    let mut ended = 0;
    for _ in 0..20_000_000 {
        if ended == connections && held.is_empty() {
            break;
        }
        pair.step();
        echo(&mut pair.server, &mut held);
        while let Some(event) = pair.client.next_event() {
            let (Event::Connected(id) | Event::Readable(id) | Event::Writable(id) | Event::Ended(id, _)) = event else {
                panic!("{event:?}")
            };
            if let Event::Ended(_, how) = event {
                assert_eq!((how, open[&id]), (Ended::Closed, (bytes, bytes)));
                pair.client.close(id).unwrap();
                ended += 1;
                continue;
            }
            let (sent, received) = open.get_mut(&id).unwrap();
            let mut buffer = [0; 4_096];
            while let Some(len @ 1..) = pair.client.recv(id, &mut buffer).unwrap() {
                for (offset, got) in buffer[..len].iter().enumerate() {
                    assert_eq!(*got, byte(*received + offset, id));
                }
                *received += len;
            }
            if *sent < bytes {
                let more: Vec<_> = (*sent..bytes.min(*sent + 9_999)).map(|position| byte(position, id)).collect();
                let mut rest = &more[..];
                while !rest.is_empty() {
                    let taken = pair.client.send(id, rest).unwrap();
                    *sent += taken;
                    rest = &rest[taken..];
                    if taken == 0 {
                        break;
                    }
                }
            }
            if *sent == bytes {
                let _ = pair.client.shutdown(id);
            }
        }
    }
    assert_eq!((ended, held.len()), (connections, 0));
}

#[test]
fn one_connection_echoes() {
    for hosts in [IPV4, IPV6] {
        run(hosts, 1, 300_000, (0, 1));
    }
}

#[test]
fn many_connections_echo() {
    run(IPV4, 500, 3_000, (0, 1));
    run(IPV6, 100, 3_000, (0, 1));
}

#[test]
fn loss_and_reordering_change_nothing() {
    for seed in 1..=10 {
        run(if seed % 2 == 0 { IPV4 } else { IPV6 }, 20, 20_000, (30, seed));
    }
}
