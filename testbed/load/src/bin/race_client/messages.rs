// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Connections on a stack of the client's own that send messages of any size, while replies to earlier ones come.

use crate::bulk::{BulkLoad, UNIT};
use crate::control::Load;
use dpdk_sockets::wire::QueuePair;
use dpdk_sockets::{ConnectionId, Event, Stack};
use std::collections::{HashMap, VecDeque};
use testbed_load::{Counters, Latencies, Messages, Mode, PORT, SERVER};

/// So many connections have messages on their way at a time, and all others wait for their turn.
const MOST_ACTIVE: usize = 32;
/// Each of them has at least so many bytes on their way.
const TURN: u64 = 65_536;
/// So many SYNs are on their way at most.
const OPENING: usize = 8;
/// Bytes that are made or read at once.
const ROOM: usize = 65_536;

pub(super) struct Exchanges {
    stack: Stack<QueuePair>,
    /// Of a message with its header.
    len: u32,
    wanted: usize,
    asked_for: usize,
    all: Vec<Messages>,
    by_id: HashMap<ConnectionId, usize>,
    /// Those without messages on their way: the first one has waited for longest.
    waiting: VecDeque<usize>,
    is_open: bool,
    is_full: bool,
    wrong: u64,
    rooms: [Vec<u8>; 2],
}

impl Exchanges {
    pub(super) fn new(stack: Stack<QueuePair>, connections: u32, len: u32) -> Self {
        Self {
            stack,
            len: len.max(Messages::LEAST),
            wanted: connections as usize,
            asked_for: 0,
            all: Vec::new(),
            by_id: HashMap::new(),
            waiting: VecDeque::new(),
            is_open: false,
            is_full: false,
            wrong: 0,
            rooms: [vec![0; ROOM], vec![0; ROOM]],
        }
    }

    fn opened(&mut self, id: ConnectionId) {
        let number = self.all.len();
        self.all.push(Messages::new(id, number as u32, self.len));
        self.by_id.insert(id, number);
        self.waiting.push_back(number);
    }

    /// Takes replies of a connection, and sends on.
    fn go_on(&mut self, id: ConnectionId) {
        let Some(&number) = self.by_id.get(&id) else { return };
        let one = &mut self.all[number];
        let had = one.on_their_way();
        let [room, wanted] = &mut self.rooms;
        let is_right = one.take(&mut self.stack, room, wanted).unwrap_or(false);
        self.wrong += u64::from(!is_right);
        if self.is_full && self.waiting.is_empty() && had > 0 {
            one.begin(TURN);
        } else if one.on_their_way() == 0 && had > 0 {
            self.waiting.push_back(number);
        }
        self.send(number);
    }

    fn send(&mut self, number: usize) {
        // One that has ended is found by its event.
        let _ = self.all[number].send(&mut self.stack, &mut self.rooms[0]);
    }

    fn open_more(&mut self) {
        while self.is_open && self.asked_for < self.wanted.min(self.all.len() + OPENING) {
            self.asked_for += 1;
            self.wrong += u64::from(self.stack.connect((SERVER, PORT).into()).is_err());
        }
    }
}

impl BulkLoad for Exchanges {
    fn poll(&mut self) -> bool {
        let frames = self.stack.poll();
        while let Some(event) = self.stack.next_event() {
            match event {
                Event::Connected(id) => self.opened(id),
                Event::Readable(id) | Event::Writable(id) => self.go_on(id),
                Event::Ended(..) => self.wrong += 1,
                _ => (),
            }
        }
        self.open_more();
        while self.is_full
            && self.all.len() - self.waiting.len() < MOST_ACTIVE
            && let Some(number) = self.waiting.pop_front()
        {
            self.all[number].begin(TURN);
            self.send(number);
        }
        frames == 0
    }
}

impl Load for Exchanges {
    fn open(&mut self) {
        self.is_open = true;
    }

    fn set_mode(&mut self, mode: Mode, _: u64) {
        self.is_full = mode == Mode::Full;
    }

    fn is_quiet(&self) -> bool {
        self.all.len() == self.wanted && self.waiting.len() == self.wanted
    }

    fn counters(&self) -> Counters {
        let sum = |what: fn(&Messages) -> u64| self.all.iter().map(what).sum::<u64>() / UNIT;
        Counters {
            opened: self.all.len() as u64,
            requests: sum(Messages::begun),
            answers: sum(Messages::received),
            resent: self.stack.counters().retransmits,
            repeated: 0,
            wrong: self.wrong,
        }
    }

    fn latencies(&self) -> Option<&Latencies> {
        None
    }
}
