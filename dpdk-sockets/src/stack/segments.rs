// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What happens to a received segment.

use super::{Fate, Stack, trace};
use crate::demux::{Flow, Segment, Terms};
use crate::engine::State;
use crate::event::{ConnectionId, ListenerId};
use crate::link::Hop;
use crate::tcp::{Arrival, Check, Connection, Reply, reset_for};
use crate::time::Time;
use crate::watch::capture;
use crate::wire::Wire;
use smoltcp::wire::{TcpControl, TcpSeqNumber};

/// Too many connections are reported at most once in this time.
const OVERFLOW_REPORT_EVERY: Time = Time::from_secs(10);

/// Cookies are looked for so long after the last one was sent.
const COOKIES_FOR: Time = Time::from_secs(128);

impl<W: Wire> Stack<W> {
    pub(super) fn segment(&mut self, segment: &Segment<'_>, from: Hop, others: usize) -> Fate {
        if !self.link.captures.is_empty() {
            let now = self.link.now();
            capture::received(&mut self.link.captures, segment.flow, segment.packet, now);
        }
        if let Some(id) = self.connections.confirm(segment.flow, self.guess) {
            self.known(id, segment);
            return Fate::Done;
        }
        match self.time_wait.arrived(segment, self.link.now()) {
            Some(Arrival::Answered(reply)) => reply.send(&mut self.link, from),
            Some(Arrival::Ignored) => (),
            Some(Arrival::Opens(first)) => self.unknown(segment, from, Some(first)),
            None => match self.owner(segment.flow, others) {
                Some(other) => return Fate::Passed(other, 0),
                None => self.unknown(segment, from, None),
            },
        }
        Fate::Done
    }

    /// A segment of a connection.
    fn known(&mut self, id: ConnectionId, segment: &Segment<'_>) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        match connection.check(segment, self.link.now()) {
            Check::Pass => {
                if connection.is_useless(segment) {
                    return;
                }
                connection.received(segment, self.link.now(), &mut self.counters);
                let hop = connection.hop;
                let corrected = connection.corrected(segment);
                let packet = corrected.as_deref().unwrap_or(segment.packet);
                let (socket, path, next) = (&mut connection.socket, connection.path, connection.next_to_send);
                let sent = self.engine.receive(packet, socket, &mut self.link, hop, path, next);
                connection.sent(sent, self.link.now(), &mut self.counters);
                // A SYN that the engine has refused says nothing.
                if segment.syn && connection.socket.state() != State::SynSent {
                    let terms = segment.terms();
                    connection.synchronize(segment.seq, terms);
                    let path = self.path(segment.flow, terms.segment_size);
                    if let Some(connection) = self.connections.get_mut(id) {
                        connection.path = path;
                    }
                }
                self.mark_dirty(id);
                self.refresh(id, segment.rst);
            }
            Check::Challenge(reply) => {
                self.counters.challenges += 1;
                reply.send(&mut self.link, connection.hop);
            }
            Check::Drop => self.counters.ignored += 1,
        }
    }

    /// A segment of no connection. If it opens one, that one's initial number is `first` or a higher one.
    fn unknown(&mut self, segment: &Segment<'_>, from: Hop, first: Option<TcpSeqNumber>) {
        let is_syn = segment.syn && segment.ack.is_none() && !segment.rst && !segment.fin;
        let listener = self.ports.get(&segment.flow.local().port()).copied();
        if let Some(listener) = listener {
            if is_syn {
                self.handshake(listener, segment, from, first);
                return;
            }
            if self.link.now() < self.cookies_until && self.handshake_by_cookie(listener, segment) {
                return;
            }
        }
        match reset_for(segment) {
            Some(reply) => {
                self.counters.refused += 1;
                reply.send(&mut self.link, from);
            }
            None => self.counters.ignored += 1,
        }
    }

    /// A SYN for a listener.
    fn handshake(&mut self, listener: ListenerId, segment: &Segment<'_>, from: Hop, first: Option<TcpSeqNumber>) {
        if self.connections.len() >= self.config.connections {
            self.overflow();
            return;
        }
        if self.is_peer_full(segment.flow.remote().ip()) {
            self.counters.peer_overflows += 1;
            return;
        }
        let (flow, now) = (segment.flow, self.link.now());
        if self.listeners.get(listener).is_some_and(|listener| listener.half_open >= self.config.backlog) {
            self.counters.cookies += 1;
            if now >= self.cookies_until {
                trace::cookies_begin(flow.local().port(), self.config.backlog);
            }
            self.cookies_until = now + COOKIES_FOR;
            let number = self.cookies.number(flow, segment.seq, segment.terms().segment_size, now);
            let size = (self.config.mtu - flow.headers_len()) as u16;
            let ack = Some(segment.seq + 1);
            let window = self.buffers.receive as u16;
            let control = TcpControl::Syn;
            Reply { flow, control, seq: number, ack, window, segment_size: Some(size) }.send(&mut self.link, from);
            return;
        }
        let initial = self.initial.number(flow, now);
        let initial = first.map_or(initial, |first| initial.max(first));
        let id = self.accept(listener, flow, segment.packet, (segment.seq, segment.terms()), initial);
        if let Some(connection) = id.and_then(|id| self.connections.get_mut(id)) {
            connection.received(segment, now, &mut self.counters);
        }
    }

    /// There is no place for one more connection.
    fn overflow(&mut self) {
        self.counters.overflows += 1;
        let now = self.link.now();
        if now >= self.overflow_reported_until {
            self.overflow_reported_until = now + OVERFLOW_REPORT_EVERY;
            trace::overflow(self.config.connections, self.counters.overflows);
        }
    }

    /// An acknowledgment for a listener. Returns whether it completes a handshake by a cookie.
    fn handshake_by_cookie(&mut self, listener: ListenerId, segment: &Segment<'_>) -> bool {
        let Some(ack) = segment.ack.filter(|_| !segment.syn && !segment.rst) else { return false };
        let (flow, syn, initial) = (segment.flow, segment.seq - 1, ack - 1);
        let Some(size) = self.cookies.segment_size(flow, syn, initial, self.link.now()) else { return false };
        if self.connections.len() >= self.config.connections {
            self.overflow();
            return true;
        }
        if self.is_peer_full(flow.remote().ip()) {
            self.counters.peer_overflows += 1;
            return true;
        }
        // The SYN as it was, but for options that a cookie has no room for.
        let terms = Terms { segment_size: size, ..Terms::default() };
        let packet = Reply::syn(flow.reversed(), syn, terms);
        let Some(id) = self.accept(listener, flow, &packet, (syn, terms), initial) else { return true };
        self.counters.cookies_accepted += 1;
        if let Some(connection) = self.connections.get_mut(id) {
            // The answer to it has arrived long ago; the engine only notes that it was sent.
            let (socket, path, next) = (&mut connection.socket, connection.path, connection.next_to_send);
            let sent = self.engine.transmit(socket, &mut self.link, Hop::Nowhere, path, next);
            connection.sent(sent, self.link.now(), &mut self.counters);
        }
        self.known(id, segment);
        true
    }

    /// A new connection whose SYN is `packet`.
    fn accept(
        &mut self,
        listener: ListenerId,
        flow: Flow,
        packet: &[u8],
        (syn, terms): (TcpSeqNumber, Terms),
        initial: TcpSeqNumber,
    ) -> Option<ConnectionId> {
        let peer = flow.remote().ip();
        let hop = Hop::Host(self.link.routes().hop(peer)?);
        let socket = self.engine.accept(packet, flow.local(), initial, self.buffers, &mut self.link, hop)?;
        self.listeners.get_mut(listener)?.half_open += 1;
        let way = (hop, self.path(flow, terms.segment_size));
        let mut connection = Connection::new(socket, flow, way, Some(listener), initial, self.link.now());
        connection.synchronize(syn, terms);
        if self.config.connections_per_peer.is_some() {
            *self.peers.entry(peer).or_default() += 1;
        }
        Some(self.insert(connection))
    }
}
