// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! One connection: what has come and is no whole request yet, and what is to be sent.

use super::request::{Parsed, Refusal, parse};
use super::response;
use crate::sockets::{Received, Sockets};
use std::time::Instant;

/// So much is read at a time.
pub(super) const ROOM: usize = 16_384;

/// Whether a connection goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    GoesOn,
    /// It can be closed.
    Over,
}

#[derive(Debug)]
pub(super) struct Connection<I> {
    pub(super) id: I,
    /// The beginning of a request.
    input: Vec<u8>,
    /// Answers, of which so many bytes are sent.
    output: Vec<u8>,
    sent: usize,
    /// Nothing more is answered. What comes is read away, so that the peer gets the last answer and not a reset.
    is_last: bool,
    /// Whether the direction to the peer is closed.
    is_shut_down: bool,
    /// Since when the peer has to do something: to complete a request, to take an answer, or to close.
    pub(super) waiting: Option<Instant>,
    /// When it did something last.
    pub(super) active: Instant,
}

impl<I: Copy + Eq> Connection<I> {
    pub(super) fn new(id: I, now: Instant) -> Self {
        Self {
            id,
            input: Vec::new(),
            output: Vec::new(),
            sent: 0,
            is_last: false,
            is_shut_down: false,
            waiting: None,
            active: now,
        }
    }

    /// Reads, answers and sends as far as it goes. Returns how many requests were answered.
    pub(super) fn go_on<S: Sockets<Id = I>>(&mut self, sockets: &mut S, room: &mut [u8], now: Instant) -> (Fate, u64) {
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
        let has_to_act = self.is_last || !self.input.is_empty() || self.sent < self.output.len();
        self.waiting = if has_to_act { self.waiting.or(Some(now)) } else { None };
        (fate, answered)
    }

    /// The peer was too slow. Returns whether there is an answer for it.
    pub(super) fn time_out<S: Sockets<Id = I>>(&mut self, sockets: &mut S, now: Instant) -> Fate {
        if self.is_last || self.sent < self.output.len() {
            return Fate::Over;
        }
        self.refuse(Refusal::TimedOut);
        self.waiting = Some(now);
        match self.flush(sockets) {
            None => Fate::Over,
            Some(_) => Fate::GoesOn,
        }
    }

    /// Answers all whole requests in what has come.
    fn take(&mut self, bytes: &[u8]) -> u64 {
        let held = core::mem::take(&mut self.input);
        let joined;
        let mut rest = if held.is_empty() {
            bytes
        } else {
            joined = [&held[..], bytes].concat();
            &joined[..]
        };
        let mut answered = 0;
        while !self.is_last && !rest.is_empty() {
            match parse(rest) {
                Parsed::Incomplete => break,
                Parsed::Request(len, request) => {
                    response::answer(&request, &mut self.output);
                    self.is_last = !request.keeps_alive;
                    rest = &rest[len..];
                    answered += 1;
                    // The next one has its own time.
                    self.waiting = None;
                }
                Parsed::Refused(refusal) => self.refuse(refusal),
            }
        }
        if !self.is_last {
            self.input.extend_from_slice(rest);
        }
        answered
    }

    fn refuse(&mut self, refusal: Refusal) {
        response::refuse(refusal, &mut self.output);
        self.is_last = true;
    }

    /// Sends what is to be sent. Returns whether that was all; `None` if the connection is broken.
    fn flush<S: Sockets<Id = I>>(&mut self, sockets: &mut S) -> Option<bool> {
        if self.sent < self.output.len() {
            self.sent += sockets.send(self.id, &self.output[self.sent..])?;
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
