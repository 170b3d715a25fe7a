// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! One connection of any service: what it reads, and what is to be sent.

use crate::service::{Service, Taken};
use crate::sockets::{Received, Sockets};
use std::time::Instant;

/// Whether a connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    GoesOn,
    /// It can be closed.
    Over,
}

#[derive(Debug)]
pub(super) struct Connection<I, S> {
    pub(super) id: I,
    service: S,
    /// Answers, of which so many bytes are sent.
    output: Vec<u8>,
    sent: usize,
    /// Whether the beginning of something has come, and not the rest.
    is_partial: bool,
    /// Nothing more is answered. What comes is read away, so that the peer gets the last answer and not a reset.
    is_last: bool,
    /// Whether the direction to the peer is closed.
    is_shut_down: bool,
    /// Since when the peer has to do something: to complete a request, to take an answer, or to close.
    pub(super) waiting: Option<Instant>,
    /// When it did something last.
    pub(super) active: Instant,
}

impl<I: Copy + Eq, S: Service> Connection<I, S> {
    pub(super) fn new(id: I, now: Instant) -> Self {
        Self {
            id,
            service: S::default(),
            output: Vec::new(),
            sent: 0,
            is_partial: false,
            is_last: false,
            is_shut_down: false,
            waiting: None,
            active: now,
        }
    }

    /// Reads, answers and sends as far as it goes. Returns how many requests were answered.
    pub(super) fn go_on(&mut self, sockets: &mut impl Sockets<Id = I>, room: &mut [u8], now: Instant) -> (Fate, u64) {
        let mut answered = 0;
        self.active = now;
        let fate = loop {
            // What was not sent is not added to: the peer has to read first.
            match self.flush(sockets) {
                None => break Fate::Over,
                Some(false) => break Fate::GoesOn,
                Some(true) => (),
            }
            match sockets.receive(self.id, room) {
                Received::Bytes(_) if self.is_last => (),
                Received::Bytes(len) => answered += self.take(&room[..len]),
                Received::Nothing => break Fate::GoesOn,
                Received::End | Received::Broken => break Fate::Over,
            }
        };
        let has_to_act = self.is_last || self.is_partial || self.sent < self.output.len();
        self.waiting = if has_to_act { self.waiting.or(Some(now)) } else { None };
        (fate, answered)
    }

    /// The peer was too slow. It gets an answer that says so, if the service has one.
    pub(super) fn time_out(&mut self, sockets: &mut impl Sockets<Id = I>, now: Instant) -> Fate {
        if self.is_last || self.sent < self.output.len() || !self.service.time_out(&mut self.output) {
            return Fate::Over;
        }
        self.is_last = true;
        self.waiting = Some(now);
        match self.flush(sockets) {
            None => Fate::Over,
            Some(_) => Fate::GoesOn,
        }
    }

    fn take(&mut self, bytes: &[u8]) -> u64 {
        let Taken { answered, is_partial, is_last } = self.service.take(bytes, &mut self.output);
        (self.is_partial, self.is_last) = (is_partial, is_last);
        if answered > 0 || !S::HAS_DEADLINE {
            // The next one has its own time.
            self.waiting = None;
        }
        answered
    }

    /// Sends what is to be sent. Returns whether that was all; `None` if the connection is broken.
    fn flush(&mut self, sockets: &mut impl Sockets<Id = I>) -> Option<bool> {
        if self.sent < self.output.len() {
            let sent = sockets.send(self.id, &self.output[self.sent..])?;
            self.sent += sent;
            if sent > 0 && !S::HAS_DEADLINE {
                self.waiting = None;
            }
        }
        if self.sent < self.output.len() {
            return Some(false);
        }
        self.output.clear();
        self.sent = 0;
        if self.is_last && !self.is_shut_down {
            self.is_shut_down = true;
            sockets.shutdown(self.id);
        }
        Some(true)
    }
}
