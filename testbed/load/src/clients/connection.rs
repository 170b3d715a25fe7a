// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! One connection of a client.

use crate::addresses;
use crate::segment::{DATA_LEN, RST, Request, SYN, Segment};

/// Where a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Closed,
    /// A SYN is on its way.
    Opening,
    /// Every request has its answer.
    Idle,
    /// A request is on its way.
    Waiting,
}

/// What a segment was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News {
    Opened,
    Answered,
    /// The server has sent it before, or the handshake is to be confirmed again.
    Repeated,
    /// Only an acknowledgment, or a refusal before the server listens: the SYN is sent again.
    Nothing,
    /// No answer to what was asked.
    Wrong,
}

#[derive(Debug)]
pub(super) struct Connection {
    request: Request,
    pub(super) state: State,
    /// Of the next byte to send.
    seq: u32,
    /// Of the next byte to come.
    ack: u32,
    /// When the request should have been sent, from which on its latency counts.
    pub(super) due: u64,
    /// When something was last sent or came.
    pub(super) touched: u64,
}

impl Connection {
    pub(super) fn new(number: u32) -> Self {
        let request = Request::new(number, addresses::client(number));
        // Any number will do. Those of neighbors are far apart.
        let seq = number.wrapping_mul(0x9e37_79b9);
        Self { request, state: State::Closed, seq, ack: 0, due: 0, touched: 0 }
    }

    pub(super) const fn numbers(&self) -> (u32, u32) {
        (self.seq, self.ack)
    }

    /// The request that is on its way, and its numbers.
    pub(super) fn sent(&self) -> (&Request, u32, u32) {
        (&self.request, self.seq.wrapping_sub(DATA_LEN as u32), self.ack)
    }

    /// The next request is on its way.
    pub(super) fn begin(&mut self, due: u64, now: u64) {
        self.state = State::Waiting;
        self.seq = self.seq.wrapping_add(DATA_LEN as u32);
        (self.due, self.touched) = (due, now);
    }

    /// Takes a segment of the server.
    pub(super) fn take(&mut self, segment: &Segment<'_>, now: u64) -> News {
        match self.state {
            State::Closed => News::Wrong,
            State::Opening if segment.flags & RST != 0 => News::Nothing,
            State::Opening if segment.flags & SYN != 0 && segment.ack == self.seq.wrapping_add(1) => {
                self.seq = segment.ack;
                self.ack = segment.seq.wrapping_add(1);
                self.state = State::Idle;
                self.touched = now;
                News::Opened
            }
            State::Opening => News::Wrong,
            State::Idle | State::Waiting if segment.flags & (RST | crate::segment::FIN) != 0 => News::Wrong,
            State::Idle | State::Waiting if segment.flags & SYN != 0 => News::Repeated,
            State::Idle | State::Waiting if segment.data.is_empty() => News::Nothing,
            State::Idle | State::Waiting if segment.seq != self.ack => News::Repeated,
            State::Idle => News::Wrong,
            State::Waiting => {
                let (request, seq, _) = self.sent();
                if segment.ack != self.seq || !request.is_answered_by(segment.data, seq) {
                    return News::Wrong;
                }
                self.ack = self.ack.wrapping_add(DATA_LEN as u32);
                self.state = State::Idle;
                self.touched = now;
                News::Answered
            }
        }
    }
}
