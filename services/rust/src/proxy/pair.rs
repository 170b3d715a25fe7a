// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Two connections that are joined.

use crate::sockets::{Received, Sockets};
use std::time::Instant;

/// Whether a pair goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    GoesOn,
    /// Both directions have ended.
    Over,
    /// One of the connections is broken.
    Broken,
}

/// From one connection to the other.
#[derive(Debug, Default)]
struct Direction {
    /// Bytes of which so many are sent. Nothing is read before the others are.
    held: Vec<u8>,
    sent: usize,
    has_ended: bool,
    /// Whether the end was passed on.
    is_shut_down: bool,
}

#[derive(Debug)]
pub(super) struct Pair<I> {
    pub(super) client: I,
    pub(super) back_end: I,
    /// Whether the back end has taken the connection.
    pub(super) is_connected: bool,
    to_back_end: Direction,
    to_client: Direction,
    /// When something happened last.
    pub(super) active: Instant,
}

impl<I: Copy + Eq> Pair<I> {
    pub(super) fn new(client: I, back_end: I, now: Instant) -> Self {
        let (to_back_end, to_client) = (Direction::default(), Direction::default());
        Self { client, back_end, is_connected: false, to_back_end, to_client, active: now }
    }

    /// What an event of one of the connections means before the back end has taken the other one. That would be known before
    /// anything is read from there.
    pub(super) fn wait(&self, id: I, sockets: &mut impl Sockets<Id = I>, room: &mut [u8]) -> Fate {
        let is_refused = id == self.back_end && sockets.receive(id, room) == Received::Broken;
        if is_refused { Fate::Broken } else { Fate::GoesOn }
    }

    /// Passes on what there is.
    pub(super) fn go_on(&mut self, sockets: &mut impl Sockets<Id = I>, room: &mut [u8], now: Instant) -> Fate {
        self.active = now;
        let (client, back_end) = (self.client, self.back_end);
        let is_alive = self.to_back_end.go_on(sockets, client, back_end, room).is_some()
            && self.to_client.go_on(sockets, back_end, client, room).is_some();
        match (is_alive, self.to_back_end.is_shut_down && self.to_client.is_shut_down) {
            (false, _) => Fate::Broken,
            (true, true) => Fate::Over,
            (true, false) => Fate::GoesOn,
        }
    }
}

impl Direction {
    /// `None` if one of the connections is broken.
    fn go_on<S: Sockets>(&mut self, sockets: &mut S, from: S::Id, to: S::Id, room: &mut [u8]) -> Option<()> {
        loop {
            if self.sent < self.held.len() {
                self.sent += sockets.send(to, &self.held[self.sent..])?;
                if self.sent < self.held.len() {
                    return Some(());
                }
                (self.held, self.sent) = (Vec::new(), 0);
            }
            if self.has_ended {
                if !self.is_shut_down {
                    self.is_shut_down = true;
                    sockets.shutdown(to);
                }
                // A reset can still come.
                return if sockets.receive(from, room) == Received::Broken { None } else { Some(()) };
            }
            match sockets.receive(from, room) {
                Received::Bytes(len) => {
                    let sent = sockets.send(to, &room[..len])?;
                    self.held.extend_from_slice(&room[sent..len]);
                }
                Received::Nothing => return Some(()),
                Received::End => self.has_ended = true,
                Received::Broken => return None,
            }
        }
    }
}
