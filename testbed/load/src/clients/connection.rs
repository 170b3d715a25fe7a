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
    /// The last request has its answer, which the end of the server's direction follows.
    Ending,
    /// The server's direction is closed, and the end of the client's is on its way.
    LastAck,
    /// The end of the client's direction is on its way.
    Closing,
}

/// What a segment was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum News {
    Opened,
    Answered,
    /// The last request was answered; whether the server's direction is closed, too.
    LastAnswered(bool),
    /// The server's direction is closed, and the client's is to be.
    Ended,
    /// Both directions are closed, by an end that is to be acknowledged.
    Closed,
    /// Both directions are closed.
    Acknowledged,
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
    /// The last one of a connection, if there is to be one: apart, since most races have none.
    last: Option<Box<Request>>,
    /// So many requests a connection has; 0: there is no last one.
    per_connection: u32,
    /// How many were sent since it was opened.
    requests: u32,
    /// So many fewer it has when it is opened for the first time, so that not all connections end at once.
    fewer: u32,
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
    pub(super) fn new(work: Work, number: u32, per_connection: u32) -> Self {
        let request = |work| Request::new(work, number, addresses::client(number));
        let last = (per_connection > 0).then(|| Box::new(request(Work::LastPage)));
        // Any number will do. Those of neighbors are far apart.
        let seq = number.wrapping_mul(0x9e37_79b9);
        Self {
            request: request(work),
            last,
            per_connection,
            requests: 0,
            fewer: number.checked_rem(per_connection).unwrap_or(0),
            state: State::Closed,
            seq,
            ack: 0,
            received: 0,
            is_owed: false,
            due: 0,
            touched: 0,
        }
    }

    pub(super) const fn numbers(&self) -> (u32, u32) {
        (self.seq, self.ack)
    }

    /// A SYN is on its way.
    pub(super) fn open(&mut self, now: u64) {
        self.state = State::Opening;
        self.requests = core::mem::take(&mut self.fewer);
        self.seq = self.seq.wrapping_add(APART);
        self.touched = now;
    }

    /// The request that is on its way, and its numbers.
    pub(super) fn sent(&self) -> (&Request, u32, u32) {
        let request = self.last.as_deref().filter(|_| self.is_last()).unwrap_or(&self.request);
        (request, self.seq.wrapping_sub(DATA_LEN as u32), self.ack)
    }

    const fn is_last(&self) -> bool {
        self.requests == self.per_connection && self.requests > 0
    }

    /// The next request is on its way.
    pub(super) fn begin(&mut self, due: u64, now: u64) {
        self.state = State::Waiting;
        self.requests = self.requests.saturating_add(1);
        self.seq = self.seq.wrapping_add(DATA_LEN as u32);
        (self.due, self.touched) = (due, now);
    }

    /// The end of the client's direction is on its way.
    pub(super) fn close(&mut self, now: u64) {
        self.state = if self.state == State::Ending { State::LastAck } else { State::Closing };
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
            State::Ending if ends == FIN && segment.seq == self.ack => {
                self.ack = self.ack.wrapping_add(1);
                News::Ended
            }
            State::LastAck if ends == 0 && segment.ack == self.seq => {
                self.come(State::Closed, now);
                News::Acknowledged
            }
            // Until the client's end has come.
            State::LastAck if ends & RST == 0 => News::Nothing,
            State::Waiting if ends == FIN && self.is_last() => self.answered(segment, now),
            _ if ends != 0 => News::Wrong,
            _ if segment.flags & SYN != 0 => News::Repeated,
            _ if segment.data.is_empty() => News::Nothing,
            _ if segment.seq != self.ack => News::Repeated,
            State::Idle | State::Closing | State::Ending | State::LastAck => News::Wrong,
            State::Waiting => self.answered(segment, now),
        }
    }

    /// Takes a segment with the next bytes of an answer.
    fn answered(&mut self, segment: &Segment<'_>, now: u64) -> News {
        let (request, seq, _) = self.sent();
        let answer = request.answer(segment.data, seq, self.received);
        let has_end = segment.flags & FIN != 0;
        if segment.ack != self.seq || answer == Answer::Wrong || (has_end && answer == Answer::Part) {
            return News::Wrong;
        }
        self.ack = self.ack.wrapping_add(segment.data.len() as u32);
        if answer == Answer::Part {
            self.received += segment.data.len();
            return News::Continued;
        }
        (self.received, self.is_owed) = (0, false);
        if self.is_last() {
            self.ack = self.ack.wrapping_add(u32::from(has_end));
            self.come(State::Ending, now);
            return News::LastAnswered(has_end);
        }
        self.come(State::Idle, now);
        News::Answered
    }

    fn come(&mut self, state: State, now: u64) {
        (self.state, self.touched) = (state, now);
    }
}

#[cfg(test)]
mod tests {
    use super::{Connection, News, State};
    use crate::addresses::client;
    use crate::page::{ANSWER, LAST_ANSWER};
    use crate::segment::{FIN, SYN, Segment};
    use crate::work::{DATA_LEN, Work};

    const SERVER_SEQ: u32 = 4_000_000_000;

    fn take(connection: &mut Connection, flags: u8, after: usize, data: &[u8]) -> News {
        let (to, to_port) = client(8);
        let seq = SERVER_SEQ.wrapping_add(after as u32);
        let ack = connection.seq.wrapping_add(u32::from(flags == SYN));
        connection.take(&Segment { to, to_port, from_port: 80, seq, ack, flags, window: 0, data }, 1)
    }

    fn opened(per_connection: u32) -> Connection {
        let mut connection = Connection::new(Work::Page, 8, per_connection);
        connection.open(0);
        assert_eq!(take(&mut connection, SYN, 0, b""), News::Opened);
        connection
    }

    #[test]
    fn the_server_ends_a_connection_after_its_last_request() {
        for is_with_data in [false, true] {
            let mut connection = opened(2);
            connection.begin(0, 0);
            assert_eq!(take(&mut connection, 0, 1, &ANSWER), News::Answered);
            connection.begin(0, 0);
            let (place, flags) = (1 + ANSWER.len(), if is_with_data { FIN } else { 0 });
            assert_eq!(take(&mut connection, 0, place, &LAST_ANSWER[..99]), News::Continued);
            assert_eq!(take(&mut connection, flags, place + 99, &LAST_ANSWER[99..]), News::LastAnswered(is_with_data));
            if !is_with_data {
                assert_eq!(take(&mut connection, FIN, place + LAST_ANSWER.len(), b""), News::Ended);
            }
            connection.close(0);
            let ack = SERVER_SEQ.wrapping_add((place + 1 + LAST_ANSWER.len()) as u32);
            assert_eq!((connection.state, connection.ack), (State::LastAck, ack));
            assert_eq!(take(&mut connection, 0, place + 1 + LAST_ANSWER.len(), b""), News::Acknowledged);
            connection.open(0);
            connection.begin(0, 0);
            assert_eq!(connection.sent().1, connection.seq.wrapping_sub(DATA_LEN as u32));
            assert!(!connection.is_last());
        }
    }

    #[test]
    fn not_all_connections_end_at_once() {
        let first = |number| {
            let mut connection = Connection::new(Work::Page, number, 50);
            connection.open(0);
            connection.requests
        };
        assert_eq!([0, 1, 49, 50].map(first), [0, 1, 49, 0]);
        assert_eq!(Connection::new(Work::Page, 7, 0).fewer, 0);
    }

    #[test]
    fn an_end_before_that_is_wrong() {
        let mut connection = opened(2);
        connection.begin(0, 0);
        assert_eq!(take(&mut connection, FIN, 1, &ANSWER), News::Wrong);
        let mut connection = opened(1);
        connection.begin(0, 0);
        assert_eq!(take(&mut connection, FIN, 1, &LAST_ANSWER[..99]), News::Wrong);
        let mut connection = opened(0);
        assert_eq!(take(&mut connection, FIN, 1, b""), News::Wrong);
    }
}
