// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! One connection of a client.

use crate::addresses;
use crate::segment::{FIN, RST, Request, SYN, Segment};
use crate::work::{Answer, DATA_LEN, Work};

/// Sequence numbers between two connections with the same ports.
const APART: u32 = 100_000;

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
    /// The end of the client's direction is on its way.
    Closing,
}

/// What a segment was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News {
    Opened,
    Answered,
    /// Both directions are closed.
    Closed,
    /// The server has sent it before, or the handshake is to be confirmed again.
    Repeated,
    /// The beginning of an answer, which is to be acknowledged.
    Continued,
    /// Only an acknowledgment, the beginning of an answer, or no answer to a SYN, such as the refusal of a server that does not listen yet: the SYN is sent
    /// again.
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
    /// So many bytes of the answer have come.
    received: usize,
    /// Whether its beginning is to be acknowledged.
    pub(super) is_owed: bool,
    /// When the request should have been sent, from which on its latency counts.
    pub(super) due: u64,
    /// When something was last sent or came.
    pub(super) touched: u64,
}

impl Connection {
    pub(super) fn new(work: Work, number: u32) -> Self {
        let request = Request::new(work, number, addresses::client(number));
        // Any number will do. Those of neighbors are far apart.
        let seq = number.wrapping_mul(0x9e37_79b9);
        Self { request, state: State::Closed, seq, ack: 0, received: 0, is_owed: false, due: 0, touched: 0 }
    }

    pub(super) const fn numbers(&self) -> (u32, u32) {
        (self.seq, self.ack)
    }

    /// A SYN is on its way.
    pub(super) fn open(&mut self, now: u64) {
        self.state = State::Opening;
        self.seq = self.seq.wrapping_add(APART);
        self.touched = now;
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

    /// The end of the client's direction is on its way.
    pub(super) fn close(&mut self, now: u64) {
        self.state = State::Closing;
        self.seq = self.seq.wrapping_add(1);
        self.touched = now;
    }

    /// Takes a segment of the server.
    pub(super) fn take(&mut self, segment: &Segment<'_>, now: u64) -> News {
        let ends = segment.flags & (RST | FIN);
        match self.state {
            // The last acknowledgment was lost.
            State::Closed if ends == FIN => News::Repeated,
            State::Closed => News::Wrong,
            State::Opening if segment.flags & SYN == 0 || segment.ack != self.seq.wrapping_add(1) => News::Nothing,
            State::Opening => {
                self.seq = segment.ack;
                self.ack = segment.seq.wrapping_add(1);
                self.come(State::Idle, now);
                News::Opened
            }
            State::Closing if ends == FIN && segment.seq == self.ack && segment.ack == self.seq => {
                self.ack = self.ack.wrapping_add(1);
                self.come(State::Closed, now);
                News::Closed
            }
            _ if ends != 0 => News::Wrong,
            _ if segment.flags & SYN != 0 => News::Repeated,
            _ if segment.data.is_empty() => News::Nothing,
            _ if segment.seq != self.ack => News::Repeated,
            State::Idle | State::Closing => News::Wrong,
            State::Waiting => {
                let (request, seq, _) = self.sent();
                let answer = request.answer(segment.data, seq, self.received);
                if segment.ack != self.seq || answer == Answer::Wrong {
                    return News::Wrong;
                }
                self.ack = self.ack.wrapping_add(segment.data.len() as u32);
                if answer == Answer::Part {
                    self.received += segment.data.len();
                    return News::Continued;
                }
                (self.received, self.is_owed) = (0, false);
                self.come(State::Idle, now);
                News::Answered
            }
        }
    }

    fn come(&mut self, state: State, now: u64) {
        (self.state, self.touched) = (state, now);
    }
}
