// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! One connection: its socket, and what the engine does not keep.

use super::{Noted, Reply, retransmission::Retransmission};
use crate::demux::{Flow, Segment, Terms};
use crate::engine::{Path, Sent, Socket, State};
use crate::error::ConnectionError;
use crate::event::{ConnectionId, Ended, Event, ListenerId};
use crate::link::Hop;
use crate::time::Time;
use crate::watch::Counters;
use smoltcp::wire::TcpSeqNumber;

/// Segments that the engine must not get are answered so often.
const ANSWER_AGAIN_AFTER: Time = Time::from_secs(1);

/// How far a connection is, for the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The handshake is not complete.
    Opening,
    /// Established, or further.
    Open,
    /// The socket has nothing to do any more.
    Over(Ended),
}

/// The tick of a connection that waits for no time.
pub(crate) const NEVER: u64 = u64::MAX;

/// How long a peer is waited for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Patience {
    /// If it has to answer, before the handshake is complete.
    pub(crate) opening: Time,
    /// If it has to answer, afterwards.
    pub(crate) open: Time,
    /// After so long it has to answer.
    pub(crate) keep_alive: Option<Time>,
    /// If nobody has sent data.
    pub(crate) idle: Option<Time>,
    /// What it does not acknowledge is not repeated before this time has passed.
    pub(crate) repeating: Time,
}

/// What happens to a segment of a known flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Check {
    /// The engine gets it.
    Pass,
    /// It could be forged: this is sent, so that the true peer can answer.
    Challenge(Reply),
    /// It is ignored.
    Drop,
}

#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) socket: Socket,
    pub(crate) flow: Flow,
    pub(crate) hop: Hop,
    pub(crate) path: Path,
    pub(crate) stage: Stage,
    /// Who has accepted it; nobody, if the program has called `connect`.
    pub(crate) listener: Option<ListenerId>,
    /// Whether the program has called `close`.
    pub(crate) is_closed: bool,
    /// Whether the program has called `shutdown`.
    pub(crate) is_shut_down: bool,
    /// Whether the last `send` did not take all.
    pub(crate) wants_space: bool,
    /// When the peer was heard, once the handshake is complete, or when the wait for it began.
    pub(crate) heard: Time,
    /// When data came or went, or when the handshake was complete.
    pub(crate) active: Time,
    /// The tick at which it has something to do, unless it is dirty.
    pub(crate) due: u64,
    /// The tick at which the timers hand it out; not after that one.
    pub(crate) scheduled: u64,
    /// Whether it waits to be sent from.
    pub(crate) is_dirty: bool,
    /// Whether it waits to be asked for events.
    pub(crate) is_ready: bool,
    /// What the program has not been told.
    pub(crate) news: News,
    /// How much had arrived when the program was told last.
    pub(super) told: Arrived,
    /// What is noted for those who watch.
    pub(super) noted: Noted,
    /// The peer's first sequence number after its SYN, when that has come.
    first_expected: Option<TcpSeqNumber>,
    /// Bytes that the program has read.
    read: u64,
    /// The number after all that the program has written.
    pub(super) written: TcpSeqNumber,
    /// SND.NXT.
    pub(crate) next_to_send: TcpSeqNumber,
    /// The highest acknowledgment number of the peer, and the window that came with it, not scaled.
    pub(super) acknowledged: TcpSeqNumber,
    pub(super) peer_window: u16,
    /// Whether the FIN waits for the last segment.
    pub(super) fin_waits: bool,
    /// Whether more than half of the receive buffer was in use.
    pub(super) was_filled: bool,
    /// Whether the peer has not been told what the socket believes that it knows.
    pub(crate) owes_acknowledgment: bool,
    /// The window that was announced last, and the number after it.
    pub(super) window: u16,
    pub(super) edge: TcpSeqNumber,
    /// Until then, segments that the engine must not get are not answered again.
    answered_until: Time,
    retransmission: Retransmission,
}

/// What the program has not been told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct News {
    pub(crate) opened: bool,
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    pub(crate) ended: bool,
}

impl News {
    pub(crate) const fn is_any(self) -> bool {
        self.opened || self.readable || self.writable || self.ended
    }
}

/// How many bytes have arrived, and whether all have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Arrived {
    /// The low half.
    bytes: u32,
    end: bool,
}

impl Connection {
    pub(crate) fn new(
        socket: Socket,
        flow: Flow,
        (hop, path): (Hop, Path),
        listener: Option<ListenerId>,
        initial: TcpSeqNumber,
        now: Time,
    ) -> Self {
        Self {
            socket,
            flow,
            hop,
            path,
            stage: Stage::Opening,
            listener,
            is_closed: false,
            is_shut_down: false,
            wants_space: false,
            heard: now,
            active: now,
            due: NEVER,
            scheduled: NEVER,
            is_dirty: false,
            is_ready: false,
            news: News::default(),
            told: Arrived::default(),
            noted: Noted::new(now),
            first_expected: None,
            read: 0,
            written: initial + 1,
            next_to_send: initial,
            acknowledged: initial,
            peer_window: 0,
            fin_waits: false,
            was_filled: false,
            owes_acknowledgment: false,
            window: 0,
            edge: TcpSeqNumber(0),
            answered_until: Time::ZERO,
            retransmission: Retransmission::new(now),
        }
    }

    /// Notes what the peer's SYN says. Its window has no unit.
    pub(crate) fn synchronize(&mut self, syn: TcpSeqNumber, terms: Terms) {
        if self.first_expected.is_none() {
            self.first_expected = Some(syn + 1);
            self.noted.terms = terms;
            // That of a SYN is never scaled (RFC 7323, section 2.2); all others are.
            self.peer_window >>= terms.window_shift;
            // The window in a SYN of ours has waited for a number.
            self.edge = syn + usize::from(self.window);
        }
    }

    /// Notes what a segment says that the engine gets.
    pub(crate) fn received(&mut self, segment: &Segment<'_>, now: Time, counters: &mut Counters) {
        let expected = self.number_after(self.told);
        self.noted.received(segment, expected, now, counters);
        if self.stage == Stage::Open {
            self.heard = now;
        }
        if let Some(number) = segment.ack {
            self.acknowledged(number, segment.window, now);
        }
    }

    /// Notes what a segment of the peer acknowledges, and the window that it announces.
    fn acknowledged(&mut self, number: TcpSeqNumber, window: u16, now: Time) {
        if number >= self.acknowledged && number <= self.next_to_send {
            if number > self.acknowledged {
                self.retransmission.acknowledged(number, now);
            }
            (self.acknowledged, self.peer_window) = (number, window);
        }
    }

    /// Whether a segment says again that the peer has all data, but not the FIN. smoltcp 0.14 never repeats a FIN after three
    /// of them.
    pub(crate) fn is_useless(&self, segment: &Segment<'_>) -> bool {
        self.stage == Stage::Open
            && segment.len() == 0
            && self.acknowledged != self.next_to_send
            && segment.ack == Some(self.acknowledged)
            && self.socket.unacknowledged() == 0
            && !segment.rst
            && self.next_expected() == Some(segment.seq)
    }

    /// Whether a segment with this number may be on its way (RFC 5927, section 4.1).
    pub(crate) fn is_in_flight(&self, number: TcpSeqNumber) -> bool {
        number >= self.acknowledged && number < self.next_to_send
    }

    /// Notes what was sent.
    pub(crate) fn sent(&mut self, sent: Option<Sent>, now: Time, counters: &mut Counters) {
        if let Some(sent) = sent {
            self.noted.sent(sent, self.acknowledged, self.next_to_send, counters);
            if self.acknowledged == self.next_to_send {
                self.retransmission.restart(now);
                if self.peer_window == 0 {
                    // A probe, which has already waited as long as a repetition.
                    self.retransmission.count();
                }
            } else if sent.seq == self.acknowledged && sent.len > 0 {
                self.retransmission.repeat(now);
            }
            if sent.next() > self.next_to_send {
                self.retransmission.sent(sent.next(), now);
                self.next_to_send = sent.next();
            }
            (self.window, self.edge) = (sent.window, sent.ack + usize::from(sent.window));
            self.owes_acknowledgment = false;
        }
    }

    /// When the engine has to repeat what is on its way, at the latest.
    pub(crate) fn repetition(&self, patience: &Patience) -> Option<Time> {
        let is_waiting = self.stage == Stage::Open && self.acknowledged != self.next_to_send;
        is_waiting.then(|| self.retransmission.deadline(patience.repeating))
    }

    /// Notes that it is time to repeat what is on its way.
    pub(crate) fn repeat(&mut self, now: Time) {
        self.retransmission.repeat(now);
    }

    /// Copies received bytes for the program.
    pub(crate) fn read(&mut self, bytes: &mut [u8]) -> usize {
        let read = self.socket.read(bytes);
        self.read += read as u64;
        read
    }

    /// Copies bytes to send for the program.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> usize {
        let written = self.socket.write(bytes);
        self.written += written;
        self.noted.written += written as u64;
        written
    }

    /// Whether a segment that was sent leaves nothing to send before an answer, or a second, has passed: RFC 6298 has no
    /// retransmission earlier.
    pub(crate) fn is_last(&self, sent: Option<Sent>) -> bool {
        self.stage == Stage::Open && !self.is_shut_down && sent.is_some_and(|sent| sent.next() == self.written)
    }

    /// What a program gets that reads although nothing has arrived: nothing, the end, or an error.
    #[inline]
    pub(crate) fn nothing_to_read(&self) -> Result<Option<usize>, ConnectionError> {
        match self.stage {
            Stage::Over(Ended::Closed) => Ok(Some(0)),
            Stage::Over(how) => Err(ConnectionError::Ended(how)),
            _ if self.socket.is_at_end() => Ok(Some(0)),
            _ => Ok(None),
        }
    }

    /// Shows received bytes, which lie together, to `take`, which says how many it took.
    pub(crate) fn read_with(&mut self, take: impl FnOnce(&[u8]) -> usize) -> usize {
        let read = self.socket.read_with(take);
        self.read += read as u64;
        read
    }

    /// How many bytes have arrived in order.
    pub(super) fn bytes_received(&self) -> u64 {
        self.read + self.socket.unread() as u64
    }

    fn arrived(&self) -> Arrived {
        Arrived { bytes: self.bytes_received() as u32, end: self.told.end || self.socket.is_at_end() }
    }

    /// RCV.NXT, once the peer's SYN has come.
    pub(crate) fn next_expected(&self) -> Option<TcpSeqNumber> {
        self.number_after(self.arrived())
    }

    fn number_after(&self, Arrived { bytes, end }: Arrived) -> Option<TcpSeqNumber> {
        let numbers = bytes.wrapping_add(u32::from(end)).cast_signed();
        self.first_expected.map(|first| TcpSeqNumber(first.0.wrapping_add(numbers)))
    }

    /// Notes what the program has to be told of an open connection.
    pub(crate) fn look(&mut self, now: Time, counters: &mut Counters) {
        let arrived = self.arrived();
        if arrived != self.told {
            counters.bytes_received += u64::from(arrived.bytes.wrapping_sub(self.told.bytes));
            self.active = now;
            self.told = arrived;
            self.news.readable = true;
        }
        if self.wants_space && self.socket.space() > 0 {
            self.wants_space = false;
            self.news.writable = true;
        }
    }

    /// Whether a segment with this number lies in the window.
    fn is_in_window(&self, number: TcpSeqNumber, expected: TcpSeqNumber) -> bool {
        number >= expected && number < expected + usize::from(self.window).max(1)
    }

    /// RFC 5961: what could end a connection must have exactly the expected number.
    pub(crate) fn check(&mut self, segment: &Segment<'_>, now: Time) -> Check {
        let Some(expected) = self.next_expected() else { return Check::Pass };
        if !segment.rst && !segment.syn {
            if self.stage != Stage::Open || !self.is_beyond(segment, expected) {
                return Check::Pass;
            }
            // Two sides that do not agree would answer each other for ever (RFC 5961, section 7).
            if now < self.answered_until {
                return Check::Drop;
            }
            self.answered_until = now + ANSWER_AGAIN_AFTER;
            return Check::Challenge(Reply::acknowledge(self.flow, self.next_to_send, expected, self.window));
        }
        // In SYN-RECEIVED the peer's SYN again is answered by the engine's timer.
        if segment.syn && self.socket.state() == State::SynReceived && segment.seq + 1 == expected {
            return Check::Pass;
        }
        if segment.rst && segment.seq == expected {
            return Check::Pass;
        }
        if segment.rst && !self.is_in_window(segment.seq, expected) {
            return Check::Drop;
        }
        Check::Challenge(Reply::acknowledge(self.flow, self.next_to_send, expected, self.window))
    }

    /// The next thing to tell the program. Its end comes after all else.
    pub(crate) fn event(&mut self, id: ConnectionId) -> Option<Event> {
        let news = &mut self.news;
        if core::mem::take(&mut news.opened) {
            return Some(self.listener.map_or(Event::Connected(id), |listener| Event::Accepted(listener, id)));
        }
        if core::mem::take(&mut news.readable) {
            return Some(Event::Readable(id));
        }
        if core::mem::take(&mut news.writable) {
            return Some(Event::Writable(id));
        }
        match self.stage {
            Stage::Over(how) if core::mem::take(&mut news.ended) => Some(Event::Ended(id, how)),
            _ => None,
        }
    }

    /// When the connection ends, and how, if the peer stays silent. `None` if it has ended.
    #[inline]
    pub(crate) fn deadline(&self, patience: &Patience) -> Option<(Time, Ended)> {
        if matches!(self.stage, Stage::Over(_)) {
            return None;
        }
        let is_open = self.stage == Stage::Open;
        let silence = if !is_open {
            self.waits_for_peer().then_some(patience.opening)
        } else if self.waits_for_peer() {
            Some(patience.open)
        } else {
            patience.keep_alive.map(|keep_alive| keep_alive + patience.open)
        };
        let silent = silence.map(|silence| (self.heard + silence, Ended::TimedOut));
        let idle = patience.idle.filter(|_| is_open).map(|idle| (self.active + idle, Ended::Idle));
        match (silent, idle) {
            (Some(silent), Some(idle)) => Some(if idle.0 < silent.0 { idle } else { silent }),
            (silent, idle) => silent.or(idle),
        }
    }

    fn waits_for_peer(&self) -> bool {
        self.socket.unacknowledged() > 0
            || matches!(
                self.socket.state(),
                State::SynSent | State::SynReceived | State::FinWait1 | State::Closing | State::LastAck
            )
            || (self.is_closed && self.socket.state() == State::FinWait2)
    }
}
