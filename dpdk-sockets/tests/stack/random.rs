// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Random calls, and random segments of peers that know the connections: nothing panics, calls and events agree, and in
//! the end nothing is left.

use crate::peer::{PORT, Peer, config};
use core::time::Duration;
use dpdk_sockets::{ConnectionError, ConnectionId, Event};
use smoltcp::wire::{TcpControl, TcpSeqNumber};
use std::collections::BTreeMap;

/// `DPDK_SOCKETS_STEPS` and `DPDK_SOCKETS_SEED` replace them.
const STEPS: u64 = 10_000;
const SEED: u64 = 1;

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |text| text.parse().unwrap())
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }
}

/// What a peer knows of a connection: its next number, and what it has received.
type Known = BTreeMap<(u16, u16), (TcpSeqNumber, Option<TcpSeqNumber>)>;

/// A segment that is right, or a little wrong.
fn segment(random: &mut Random, peer: &mut Peer, known: &mut Known) {
    let ports = match known.len() {
        held @ 1.. if random.below(10) > 0 => *known.keys().nth(random.below(held)).unwrap(),
        _ => (40_000 + random.below(5) as u16, random.one_of(&[PORT, 81, 82])),
    };
    let (seq, ack) = known.get(&ports).copied().unwrap_or((TcpSeqNumber(random.below(3) as i32 - 1), None));
    let control = random.one_of(&[
        TcpControl::Syn,
        TcpControl::None,
        TcpControl::None,
        TcpControl::Psh,
        TcpControl::Psh,
        TcpControl::Fin,
        TcpControl::Rst,
    ]);
    let control = if ack.is_none() && random.below(4) > 0 { TcpControl::Syn } else { control };
    let data = vec![1; random.one_of(&[0, 0, 1, 100, 1_460])];
    let offset = random.one_of(&[0, 0, 0, 0, 0, 0, 1, 100, 65_534, 65_535, 1 << 30]);
    let wrong_seq = if random.below(2) == 0 { seq + offset } else { seq - offset };
    let wrong_ack = ack.map(|ack| if random.below(2) == 0 { ack + offset } else { ack - offset });
    let (seq, ack) =
        random.one_of(&[(seq, ack), (seq, ack), (seq, ack), (wrong_seq, ack), (seq, wrong_ack), (seq, None)]);
    let window = random.one_of(&[0, 1, 1_000, 65_535]);
    peer.ports = ports;
    peer.segment_with_window(control, seq, ack, &data, window);
    known.insert(ports, (seq + control.len() + data.len(), ack));
}

/// What the program has been told of a connection.
#[derive(Debug, Default)]
struct Told {
    open: bool,
    ended: bool,
    shut_down: bool,
}

fn call(random: &mut Random, peer: &mut Peer, held: &mut BTreeMap<ConnectionId, Told>) {
    let stack = &mut peer.stack;
    let Some(id) = held.keys().copied().nth(random.below(held.len().max(1))) else { return };
    let told = held.get_mut(&id).unwrap();
    match random.below(8) {
        0..=2 => match stack.recv(id, &mut vec![0; random.one_of(&[1, 500, 70_000])]) {
            Ok(_) => (),
            Err(ConnectionError::Ended(_)) => assert!(told.ended),
            Err(error) => panic!("{error}"),
        },
        3..=4 => match stack.send(id, &vec![2; random.one_of(&[0, 1, 5_000, 100_000])]) {
            Ok(_) => assert!(told.open && !told.shut_down),
            Err(ConnectionError::NotEstablished) => assert!(!told.open),
            Err(ConnectionError::ShutDown) => assert!(told.shut_down),
            Err(ConnectionError::Ended(_)) => assert!(told.ended),
            Err(error) => panic!("{error}"),
        },
        5 => told.shut_down |= stack.shutdown(id).is_ok(),
        6 => {
            stack.close(id).unwrap();
            held.remove(&id);
        }
        _ => {
            stack.abort(id).unwrap();
            held.remove(&id);
        }
    }
}

fn take_events(peer: &mut Peer, held: &mut BTreeMap<ConnectionId, Told>) {
    while let Some(event) = peer.stack.next_event() {
        match event {
            Event::Accepted(_, id) => assert!(held.insert(id, Told { open: true, ..Told::default() }).is_none()),
            Event::Connected(id) => held.get_mut(&id).unwrap().open = true,
            Event::Readable(id) | Event::Writable(id) => assert!(held[&id].open && !held[&id].ended),
            Event::Ended(id, _) => {
                assert!(!core::mem::replace(&mut held.get_mut(&id).unwrap().ended, true), "told once")
            }
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn random_calls_and_segments() {
    let steps = setting("DPDK_SOCKETS_STEPS", STEPS);
    let mut random = Random(setting("DPDK_SOCKETS_SEED", SEED));
    let mut config = config();
    config.backlog = 4;
    config.time_waits = 10;
    let mut peer = Peer::new(config);
    peer.stack.listen(81).unwrap();
    let (mut known, mut held) = (Known::new(), BTreeMap::new());
    for _ in 0..steps {
        match random.below(20) {
            0..=9 => segment(&mut random, &mut peer, &mut known),
            10..=14 => call(&mut random, &mut peer, &mut held),
            15 if held.len() < 10 => {
                let id = peer.stack.connect(crate::peer::peer_socket(443)).unwrap();
                held.insert(id, Told::default());
            }
            16 => peer.stack.wire_mut().room = random.one_of(&[0, 1, 3, usize::MAX]),
            17 => peer.stack.wire_mut().now += Duration::from_millis(random.one_of(&[1, 10, 1_000, 70_000])),
            18 => known.retain(|_, _| random.below(3) > 0),
            _ => peer.has_arp = random.below(10) > 0,
        }
        for got in peer.poll_some() {
            // A peer knows what it was sent, or forgets to note it.
            let ports = (got.ports.1, got.ports.0);
            let entry = known.entry(ports).or_insert((got.ack.unwrap_or(TcpSeqNumber(5)), None));
            if random.below(5) > 0 {
                entry.1 = Some(got.seq + got.control.len() + got.data.len());
                entry.0 = got.ack.unwrap_or(entry.0);
            }
        }
        take_events(&mut peer, &mut held);
    }
    for id in held.into_keys() {
        peer.stack.close(id).unwrap();
    }
    peer.stack.wire_mut().room = usize::MAX;
    for _ in 0..100 {
        peer.stack.wire_mut().now += Duration::from_secs(10);
        peer.poll_some();
        while let Some(event) = peer.stack.next_event() {
            // What had arrived was not looked at before.
            if let Event::Accepted(_, id) = event {
                peer.stack.close(id).unwrap();
            }
        }
    }
    assert_eq!(peer.stack.connections(), 0);
}
