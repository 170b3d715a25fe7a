// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! All connections of a service.

use crate::connection::{Connection, Fate};
use crate::running::{IDLE_TIMEOUTS, LOOK_EVERY, Running};
use crate::service::Service;
use crate::sockets::{Event, ROOM, Sockets};
use core::fmt;
use core::time::Duration;
use std::io;
use std::time::Instant;

/// A service on one port.
#[derive(Debug)]
pub struct Server<S: Sockets, T> {
    sockets: S,
    timeout: Duration,
    /// By their places.
    connections: Vec<Option<Connection<S::Id, T>>>,
    events: Vec<Event<S::Id>>,
    room: Vec<u8>,
    looked: Instant,
    answered: u64,
}

impl<S: Sockets, T: Service> Server<S, T> {
    /// A service whose peers may take `timeout` for a request, and for the room for an answer.
    pub fn new(sockets: S, timeout: Duration) -> Self {
        let (events, room) = (Vec::new(), vec![0; ROOM]);
        Self { sockets, timeout, connections: Vec::new(), events, room, looked: Instant::now(), answered: 0 }
    }

    fn accept(&mut self, id: S::Id, now: Instant) {
        let place = S::place(id);
        if place >= self.connections.len() {
            self.connections.resize_with(place + 1, || None);
        }
        self.connections[place] = Some(Connection::new(id, now));
        // Something may have come already.
        self.go_on(id, now);
    }

    fn go_on(&mut self, id: S::Id, now: Instant) {
        let slot = self.connections.get_mut(S::place(id));
        // An event can be older than the close of its connection.
        let Some(connection) = slot.and_then(Option::as_mut).filter(|connection| connection.id == id) else { return };
        let (fate, answered) = connection.go_on(&mut self.sockets, &mut self.room, now);
        self.answered += answered;
        if fate == Fate::Over {
            self.close(id);
        }
    }

    fn look_for_slow_peers(&mut self, now: Instant) {
        let mut over = Vec::new();
        for connection in self.connections.iter_mut().flatten() {
            let fate = match connection.waiting {
                Some(since) if now - since >= self.timeout => connection.time_out(&mut self.sockets, now),
                None if now - connection.active >= self.timeout * IDLE_TIMEOUTS => Fate::Over,
                _ => Fate::GoesOn,
            };
            if fate == Fate::Over {
                over.push(connection.id);
            }
        }
        for id in over {
            self.close(id);
        }
    }

    fn close(&mut self, id: S::Id) {
        self.connections[S::place(id)] = None;
        self.sockets.close(id);
    }
}

impl<S: Sockets, T: Service> Running for Server<S, T> {
    fn poll(&mut self) -> io::Result<()> {
        let mut events = core::mem::take(&mut self.events);
        self.sockets.poll(&mut events, LOOK_EVERY)?;
        let now = Instant::now();
        for event in events.drain(..) {
            match event {
                Event::Accepted(id) => self.accept(id, now),
                Event::Ready(id) => self.go_on(id, now),
                // It does not connect.
                Event::Connected(_) => (),
            }
        }
        self.events = events;
        if now - self.looked >= LOOK_EVERY {
            self.looked = now;
            self.look_for_slow_peers(now);
        }
        Ok(())
    }

    fn stop(&mut self) -> bool {
        true
    }
}

impl<S: Sockets, T: Service> fmt::Display for Server<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Those with an error included.
        write!(f, "{} requests answered", self.answered)
    }
}
