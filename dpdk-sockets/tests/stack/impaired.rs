// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Transfers between two stacks through the impairments of `testbed/impair`, on the test's clock. Each is of 0.5 MB one way and
//! then the other, or of as many MB as `DPDK_SOCKETS_MEGABYTES` says, from which the seed follows too.

use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{Config, ConnectionId, Ended, Event, IpNet, Stack};
use rand::distr::Bernoulli;
use rand::{RngExt as _, SeedableRng as _, rngs::Xoshiro256PlusPlus};
use std::env;
use testbed_impair::{Counters, Decisions, Direction, Frame, GilbertElliott, Impairments, Reorder};

const STEP: Duration = Duration::from_micros(100);
/// As long is a step while nothing is sent: the stacks wait for each other's time-outs.
const LONGEST_STEP: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(3_600);
const HOSTS: [Ipv4Addr; 2] = [Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(192, 0, 2, 2)];
const PORT: u16 = 80;
/// The content repeats itself after so many bytes: a prime, and more than is ever on its way.
const PERIOD: usize = 1_000_003;

struct Bytes(Vec<u8>);

impl Frame for Bytes {
    type Pool = ();

    fn len_bytes(&self) -> usize {
        self.0.len()
    }

    fn changeable(&self) -> usize {
        self.0.len()
    }

    fn flip(&mut self, bit: usize) -> bool {
        self.0[bit / 8] ^= 1 << (bit % 8);
        true
    }

    fn copy(&self, (): &()) -> Option<Self> {
        Some(Self(self.0.clone()))
    }
}

/// Two stacks, and what is between them. The first one has a listener.
struct Path {
    stacks: [Stack<Memory>; 2],
    /// From each to the other.
    ways: [Direction<Bytes>; 2],
    now: Duration,
    step: Duration,
}

impl Path {
    fn new(impairments: &Impairments, seed: u64) -> Self {
        let mut stacks = [0, 1].map(|number| {
            let mut config =
                Config::new(MacAddr([2, 0, 0, 0, 0, number as u8]), IpNet::new_assert(HOSTS[number].into(), 24));
            // A burst of loss lasts for frames, not for a time: a lone frame and its repetitions can fall into the same one.
            config.user_timeout = PATIENCE;
            Stack::new(Memory::default(), config).unwrap()
        });
        stacks[0].listen(PORT).unwrap();
        let both = [impairments.clone(), impairments.clone()];
        let ways = Decisions::of_both(seed, &both).map(|decisions| Direction::new(impairments, decisions));
        Self { stacks, ways, now: Duration::ZERO, step: STEP }
    }

    /// Moves frames, and the time.
    fn step(&mut self) {
        self.now += self.step;
        self.step = LONGEST_STEP.min(self.step * 2);
        for stack in &mut self.stacks {
            stack.wire_mut().now = self.now;
            stack.poll();
        }
        for (from, way) in self.ways.iter_mut().enumerate() {
            let sent = core::mem::take(&mut self.stacks[from].wire_mut().from_stack);
            let received = &mut self.stacks[1 - from].wire_mut().to_stack;
            let due = |way: &mut Direction<Bytes>| core::iter::from_fn(|| way.next_due(self.now)).collect::<Vec<_>>();
            for frame in sent {
                self.step = STEP;
                way.accept(Bytes(frame), &(), self.now);
                received.extend(due(way).into_iter().map(|frame| frame.0));
            }
            received.extend(due(way).into_iter().map(|frame| frame.0));
        }
    }
}

/// What a program knows of its side of the connection.
#[derive(Default)]
struct Side {
    connection: Option<ConnectionId>,
    sent: usize,
    received: usize,
    /// The peer sends no more.
    is_at_end: bool,
    is_shut_down: bool,
    is_over: bool,
}

impl Side {
    /// Receives what has arrived, and checks it. Sends, if it `may_send`, until `len` bytes are sent, and then closes.
    fn work(&mut self, stack: &mut Stack<Memory>, content: &[u8], len: usize, may_send: bool) {
        while let Some(event) = stack.next_event() {
            match event {
                Event::Accepted(_, id) | Event::Connected(id) => self.connection = Some(id),
                Event::Readable(_) | Event::Writable(_) => (),
                Event::Ended(_, Ended::Closed) => self.is_over = true,
                other => panic!("{other:?} after {} bytes sent and {} received", self.sent, self.received),
            }
        }
        let Some(id) = self.connection else { return };
        let mut bytes = [0; 16_384];
        while !self.is_at_end
            && let Some(got) = stack.recv(id, &mut bytes).unwrap()
        {
            let expected = &content[self.received % PERIOD..][..got];
            assert!(bytes[..got] == *expected, "other bytes than were sent, after {}", self.received);
            self.received += got;
            self.is_at_end = got == 0;
        }
        while (may_send || self.is_at_end) && self.sent < len {
            let rest = &content[self.sent % PERIOD..][..(len - self.sent).min(16_384)];
            let taken = stack.send(id, rest).unwrap();
            self.sent += taken;
            if taken == 0 {
                break;
            }
        }
        if self.sent == len && !self.is_shut_down {
            stack.shutdown(id).unwrap();
            self.is_shut_down = true;
        }
        if self.is_over {
            stack.close(id).unwrap();
            self.connection = None;
        }
    }
}

/// Sends `len` bytes to the first stack, and then `len` bytes back. Returns the time that it took on the test's clock, and
/// what happened to the frames.
fn transfer(impairments: &Impairments, content: &[u8], len: usize) -> (Duration, [Counters; 2]) {
    let mut path = Path::new(impairments, len as u64);
    path.stacks[1].connect(SocketAddr::from((HOSTS[0], PORT))).unwrap();
    let mut sides = [Side::default(), Side::default()];
    let (mut before, mut progress) = (0, Duration::ZERO);
    while !sides.iter().all(|side| side.is_over) {
        path.step();
        for (number, side) in sides.iter_mut().enumerate() {
            side.work(&mut path.stacks[number], content, len, number == 1);
        }
        let moved = sides.iter().map(|side| side.sent + side.received).sum();
        if moved > before {
            (before, progress) = (moved, path.now);
        }
        assert!(path.now < progress + PATIENCE, "nothing moves after {moved} bytes");
    }
    assert_eq!(sides.map(|side| (side.sent, side.received)), [(len, len); 2]);
    assert_eq!(path.stacks.map(|stack| stack.connections()), [0; 2]);
    (path.now, path.ways.map(|way| way.counters()))
}

/// Each impairment alone. It is for this share of the frames. Delay and jitter are that share of 100 ms, and the rate is 1
/// Gbit/s for 1 % and 100 Mbit/s for 10 %.
fn impairments(share: f64) -> [(&'static str, Impairments); 8] {
    let chance = Bernoulli::new(share).ok();
    let none = Impairments::default;
    let time = Duration::from_secs_f64(share * 0.1);
    [
        ("loss", Impairments { loss: chance, ..none() }),
        ("bursts of loss", Impairments { gemodel: GilbertElliott::new(share, 5.0).ok(), ..none() }),
        ("duplication", Impairments { duplicate: chance, ..none() }),
        ("reordering", Impairments { reorder: chance.map(|share| Reorder { share, gap: 3 }), ..none() }),
        ("corruption", Impairments { corrupt: chance, ..none() }),
        ("delay", Impairments { delay: time, ..none() }),
        ("jitter", Impairments { delay: time, jitter: time, ..none() }),
        ("rate", Impairments { rate_bps: Some((1e7 / share) as u64), ..none() }),
    ]
}

#[test]
#[allow(clippy::print_stdout, reason = "for those who ask for more bytes")]
fn every_byte_arrives_whatever_happens_to_frames() {
    let megabytes: f64 = env::var("DPDK_SOCKETS_MEGABYTES").map_or(0.5, |number| number.parse().unwrap());
    let len = (megabytes * 1e6) as usize;
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut content: Vec<u8> = (0..PERIOD).map(|_| random.random()).collect();
    // A piece of it may begin anywhere.
    content.extend_from_within(..16_384);
    let none = ("nothing", 0.0, Impairments::default());
    let each = [0.01, 0.1].into_iter().flat_map(|share| impairments(share).map(|(what, one)| (what, share, one)));
    for (what, share, impairments) in core::iter::once(none).chain(each) {
        let (time, ways) = transfer(&impairments, &content, len);
        println!("{what} of {} %: {len} bytes each way in {time:?}", share * 100.0);
        let happened = ways.map(|Counters { lost, lost_in_bursts, duplicated, reordered, corrupted, .. }| {
            lost + lost_in_bursts + duplicated + reordered + corrupted
        });
        let is_by_chance = share > 0.0 && !["delay", "jitter", "rate"].contains(&what);
        assert_eq!(happened.iter().sum::<u64>() > 0, is_by_chance, "{what}: {ways:?}");
    }
}
