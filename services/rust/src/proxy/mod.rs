// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Joins each connection to one of its own to a back end, and passes the bytes of both on.

mod pair;

use crate::running::{IDLE_TIMEOUTS, LOOK_EVERY, Running};
use crate::sockets::{Event, ROOM, Sockets};
use core::fmt;
use core::net::SocketAddr;
use core::time::Duration;
use pair::{Fate, Pair};
use slab::Slab;
use std::io;
use std::time::Instant;

/// What a proxy does, and to what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The back end.
    pub to: SocketAddr,
    /// How long connecting may take, and at the end what is open.
    pub timeout: Duration,
    /// So many pairs at a time at most.
    pub limit: usize,
}

/// What has become of connections.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    connections: u64,
    refused: u64,
    over_limit: u64,
    broken: u64,
}

/// A proxy on one port.
#[derive(Debug)]
pub struct Proxy<S: Sockets> {
    sockets: S,
    terms: Terms,
    pairs: Slab<Pair<S::Id>>,
    /// By the places of both connections of a pair: which connection, and of which pair.
    ends: Vec<Option<(S::Id, usize)>>,
    events: Vec<Event<S::Id>>,
    room: Vec<u8>,
    looked: Instant,
    stopped: Option<Instant>,
    counters: Counters,
}

impl<S: Sockets> Proxy<S> {
    /// A proxy without connections.
    pub fn new(sockets: S, terms: Terms) -> Self {
        Self {
            sockets,
            terms,
            pairs: Slab::new(),
            ends: Vec::new(),
            events: Vec::new(),
            room: vec![0; ROOM],
            looked: Instant::now(),
            stopped: None,
            counters: Counters::default(),
        }
    }

    fn accept(&mut self, client: S::Id, now: Instant) {
        if self.pairs.len() == self.terms.limit {
            self.counters.over_limit += 1;
            return self.sockets.abort(client);
        }
        let Some(back_end) = self.sockets.connect(self.terms.to) else {
            self.counters.refused += 1;
            return self.sockets.abort(client);
        };
        let key = self.pairs.insert(Pair::new(client, back_end, now));
        for id in [client, back_end] {
            let place = S::place(id);
            if place >= self.ends.len() {
                self.ends.resize(place + 1, None);
            }
            self.ends[place] = Some((id, key));
        }
    }

    /// The pair of a connection. An event can be older than the close of its connection.
    fn key(&self, id: S::Id) -> Option<usize> {
        self.ends.get(S::place(id)).copied().flatten().filter(|(end, _)| *end == id).map(|(_, key)| key)
    }

    fn connected(&mut self, id: S::Id, now: Instant) {
        if let Some(key) = self.key(id) {
            self.pairs[key].is_connected = true;
            self.counters.connections += 1;
            self.go_on(id, now);
        }
    }

    fn go_on(&mut self, id: S::Id, now: Instant) {
        if let Some(key) = self.key(id) {
            let pair = &mut self.pairs[key];
            let fate = if pair.is_connected {
                pair.go_on(&mut self.sockets, &mut self.room, now)
            } else {
                pair.wait(id, &mut self.sockets, &mut self.room)
            };
            match fate {
                Fate::GoesOn => (),
                Fate::Over => self.end(key, S::close),
                Fate::Broken => self.break_off(key),
            }
        }
    }

    /// Resets both connections of a pair.
    fn break_off(&mut self, key: usize) {
        if self.pairs[key].is_connected {
            self.counters.broken += 1;
        } else {
            self.counters.refused += 1;
        }
        self.end(key, S::abort);
    }

    fn end(&mut self, key: usize, give_back: impl Fn(&mut S, S::Id)) {
        let pair = self.pairs.remove(key);
        for id in [pair.client, pair.back_end] {
            self.ends[S::place(id)] = None;
            give_back(&mut self.sockets, id);
        }
    }

    fn look_for_slow_peers(&mut self, now: Instant) {
        let Terms { timeout, .. } = self.terms;
        let patience = |pair: &Pair<_>| if pair.is_connected { timeout * IDLE_TIMEOUTS } else { timeout };
        let is_slow = |pair: &Pair<_>| now - pair.active >= patience(pair);
        let slow: Vec<_> = self.pairs.iter().filter(|(_, pair)| is_slow(pair)).map(|(key, _)| key).collect();
        slow.into_iter().for_each(|key| self.break_off(key));
    }
}

impl<S: Sockets> Running for Proxy<S> {
    fn poll(&mut self) -> io::Result<()> {
        let mut events = core::mem::take(&mut self.events);
        self.sockets.poll(&mut events, LOOK_EVERY)?;
        let now = Instant::now();
        for event in events.drain(..) {
            match event {
                Event::Accepted(id) => self.accept(id, now),
                Event::Connected(id) => self.connected(id, now),
                Event::Ready(id) => self.go_on(id, now),
            }
        }
        self.events = events;
        if now - self.looked >= LOOK_EVERY {
            self.looked = now;
            self.look_for_slow_peers(now);
        }
        Ok(())
    }

    /// Pairs may go on until they end, for a time-out at most.
    fn stop(&mut self) -> bool {
        let now = Instant::now();
        let stopped = *self.stopped.get_or_insert_with(|| {
            self.sockets.stop_listening();
            now
        });
        if now - stopped >= self.terms.timeout {
            let open: Vec<_> = self.pairs.iter().map(|(key, _)| key).collect();
            open.into_iter().for_each(|key| self.break_off(key));
        }
        self.pairs.is_empty()
    }
}

impl<S: Sockets> fmt::Display for Proxy<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Counters { connections, refused, over_limit, broken } = self.counters;
        write!(f, "{connections} connections, {refused} refused, {over_limit} over the limit, {broken} broken")
    }
}
