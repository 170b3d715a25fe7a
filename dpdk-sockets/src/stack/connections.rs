// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What connections do between segments and calls: they send, wait, end, and have news.

use super::{Stack, trace};
use crate::engine::{Next, State};
use crate::event::{ConnectionId, Ended, Event};
use crate::link::Hop;
use crate::tcp::{Connection, NEVER, Stage};
use crate::time::Time;
use crate::timers::Wheel;
use crate::wire::Wire;
use core::net::IpAddr;

/// The same segment is not sent twice within this time.
const SAME_AGAIN_AFTER: Time = Time::from_secs(1);

/// The engine repeats nothing before this time has passed (RFC 6298, section 2.4).
const RETRANSMISSION_AFTER: Time = Time::from_secs(1);

impl<W: Wire> Stack<W> {
    pub(super) fn insert(&mut self, connection: Connection) -> ConnectionId {
        let id = self.connections.insert(connection);
        self.mark_dirty(id);
        id
    }

    /// The connection may have something to send.
    pub(super) fn mark_dirty(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(id)
            && !connection.is_dirty
        {
            connection.is_dirty = true;
            self.dirty.push_back(id);
        }
    }

    /// Sends from those connections that have something to send, each what it may send now.
    pub(super) fn send_dirty(&mut self) {
        for _ in 0..self.dirty.len() {
            if !self.link.wire.has_room() {
                return;
            }
            let Some(id) = self.dirty.pop_front() else { return };
            self.send_from(id);
        }
    }

    fn send_from(&mut self, id: ConnectionId) {
        let mtu = self.config.mtu;
        let Some(connection) = self.connections.get_mut(id) else { return };
        connection.is_dirty = false;
        let now = self.link.now();
        if connection.repetition(&self.patience).is_some_and(|at| now >= at) {
            connection.repeat(now);
            if let Next::At(at) = self.engine.next(&connection.socket, connection.path, now) {
                let (hop, path, next) = (connection.hop, connection.path, connection.next_to_send);
                let sent = self.engine.transmit_at(&mut connection.socket, &mut self.link, hop, path, next, at);
                connection.sent(sent, now, &mut self.counters);
            }
        }
        let mut last = None;
        let mut next = loop {
            connection.finish_with_last(mtu);
            let (hop, path, next) = (connection.hop, connection.path, connection.next_to_send);
            let sent = self.engine.transmit(&mut connection.socket, &mut self.link, hop, path, next);
            connection.sent(sent, now, &mut self.counters);
            // smoltcp 0.14 sends one segment again and again if the peer has acknowledged everything with a window of 0.
            if sent.is_some() && sent == last {
                break Next::At(now + SAME_AGAIN_AFTER);
            }
            last = sent;
            if connection.is_last(sent) {
                break Next::At(now + RETRANSMISSION_AFTER);
            }
            let next = self.engine.next(&connection.socket, connection.path, now);
            if next != Next::Now || sent.is_none() || !self.link.wire.has_room() {
                break next;
            }
        };
        if connection.owes_acknowledgment
            && self.link.wire.has_room()
            && let Some(reply) = connection.owed()
        {
            reply.send(&mut self.link, connection.hop);
        }
        if let Some(packet) = connection.probes(next, now) {
            let (socket, path) = (&mut connection.socket, connection.path);
            self.engine.receive(&packet, socket, &mut self.link, Hop::Nowhere, path, connection.next_to_send);
            next = self.engine.next(&connection.socket, connection.path, now);
        }
        let deadline = connection.deadline(&self.patience);
        if let Some((_, how)) = deadline.filter(|(at, _)| now >= *at) {
            connection.socket.abort();
            self.over(id, how);
            return;
        }
        let deadline = match (deadline.map(|(at, _)| at), connection.repetition(&self.patience)) {
            (Some(deadline), Some(repetition)) => Some(deadline.min(repetition)),
            (deadline, repetition) => deadline.or(repetition),
        };
        match (next, deadline) {
            (Next::Now, _) => {
                connection.is_dirty = true;
                self.dirty.push_back(id);
            }
            (Next::At(at), Some(deadline)) => schedule(&mut self.timers, connection, id, at.min(deadline)),
            (Next::At(at), None) | (Next::Never, Some(at)) => schedule(&mut self.timers, connection, id, at),
            (Next::Never, None) => connection.due = NEVER,
        }
        // A reset was sent, and with it everything is over.
        if connection.socket.is_over() {
            self.refresh(id, false);
        }
    }

    /// A tick has passed for which a connection was scheduled. Most have got another deadline meanwhile.
    pub(super) fn timer(&mut self, id: ConnectionId, tick: u64) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        if connection.scheduled > tick {
            return;
        }
        connection.scheduled = NEVER;
        if connection.due <= tick {
            self.mark_dirty(id);
        } else {
            hand_out(&mut self.timers, connection, id);
        }
    }

    /// Nobody answers to ARP or neighbor discovery at these addresses: connections that begin there fail.
    pub(super) fn unreachable(&mut self, mut hosts: Vec<IpAddr>) {
        hosts.iter().copied().for_each(trace::unreachable);
        hosts.sort_unstable();
        let is_gone = |hop| matches!(hop, Hop::Host(hop) if hosts.binary_search(&hop).is_ok());
        let begins_there = |connection: &Connection| connection.stage == Stage::Opening && is_gone(connection.hop);
        let failed: Vec<_> =
            self.connections.iter().filter(|(_, connection)| begins_there(connection)).map(|(id, _)| id).collect();
        for id in failed {
            self.over(id, Ended::Unreachable);
        }
    }

    /// Compares the socket with what the program knows. `is_reset` says whether the last segment was a reset.
    pub(super) fn refresh(&mut self, id: ConnectionId, is_reset: bool) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let state = connection.socket.state();
        match connection.stage {
            Stage::Over(_) => return,
            Stage::Opening if connection.socket.is_over() => {
                self.counters.resets_received += u64::from(is_reset);
                return self.over(id, Ended::Refused);
            }
            Stage::Opening if matches!(state, State::SynSent | State::SynReceived) => return,
            Stage::Opening => self.opened(id),
            Stage::Open => (),
        }
        let Some(connection) = self.connections.get_mut(id) else { return };
        connection.look(self.link.now(), &mut self.counters);
        // Nobody will read what arrives now (RFC 1122, section 4.2.2.13).
        if connection.is_closed && connection.socket.unread() > 0 {
            connection.socket.abort();
            self.over(id, Ended::Reset);
        } else if connection.socket.is_over() {
            self.counters.resets_received += u64::from(is_reset);
            self.over(id, if is_reset { Ended::Reset } else { Ended::Closed });
        } else if state == State::TimeWait {
            self.over(id, Ended::Closed);
        } else {
            self.announce(id);
        }
    }

    /// The handshake is complete.
    fn opened(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        match connection.listener.map(|listener| self.listeners.get_mut(listener)) {
            None => self.counters.connected += 1,
            Some(Some(listener)) => {
                listener.half_open -= 1;
                self.counters.accepted += 1;
            }
            // The listener was closed meanwhile.
            Some(None) => return self.reset(id),
        }
        connection.stage = Stage::Open;
        connection.heard = self.link.now();
        connection.active = connection.heard;
        connection.news.opened = true;
        trace::opened(connection.flow, connection.listener.is_some());
    }

    /// A connection has ended. Whoever sends for it now is answered by a reset, or from TIME-WAIT.
    pub(super) fn over(&mut self, id: ConnectionId, how: Ended) {
        self.connections.unlist(id);
        let Some(connection) = self.connections.get_mut(id) else { return };
        // Of an aborted one, the reset is still to be sent.
        let is_aborted = how == Ended::Reset && !connection.socket.is_over();
        // The last acknowledgment, or a reset. If there is no room for it, the peer gets it when it sends again.
        let (hop, path, next) = (connection.hop, connection.path, connection.next_to_send);
        let sent = self.engine.transmit(&mut connection.socket, &mut self.link, hop, path, next);
        connection.sent(sent, self.link.now(), &mut self.counters);
        if connection.socket.state() == State::TimeWait
            && let Some(expected) = connection.next_expected()
        {
            let now = self.link.now();
            self.time_wait.insert(connection.flow, connection.next_to_send, expected, now);
        }
        let was_opening = connection.stage == Stage::Opening;
        connection.stage = Stage::Over(how);
        connection.news.ended = true;
        let listener = connection.listener.filter(|_| was_opening);
        *self.counters.end(how, is_aborted, listener.is_some()) += 1;
        trace::ended(connection.flow, how);
        match listener {
            // The program does not know of it.
            Some(listener) => {
                self.remove(id);
                if let Some(listener) = self.listeners.get_mut(listener) {
                    listener.half_open -= 1;
                }
            }
            None if connection.is_closed => {
                self.remove(id);
            }
            None => self.announce(id),
        }
    }

    /// Nothing is left of a connection.
    pub(super) fn remove(&mut self, id: ConnectionId) {
        let Some(connection) = self.connections.remove(id) else { return };
        if self.config.connections_per_peer.is_some() && connection.listener.is_some() {
            let peer = connection.flow.remote().ip();
            match self.peers.get_mut(&peer) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(self.peers.remove(&peer)),
            }
        }
    }

    /// Whether a peer has as many connections as it may open.
    pub(super) fn is_peer_full(&self, peer: IpAddr) -> bool {
        let most = self.config.connections_per_peer;
        most.is_some_and(|most| self.peers.get(&peer).copied().unwrap_or(0) >= most)
    }

    /// The program will be asked to look at a connection that has news.
    fn announce(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(id)
            && !connection.is_ready
            && !connection.is_closed
            && connection.news.is_any()
        {
            connection.is_ready = true;
            self.ready.push_back(id);
        }
    }

    /// What has happened, oldest first; `None` if the program knows everything.
    pub fn next_event(&mut self) -> Option<Event> {
        while let Some(id) = self.ready.front().copied() {
            if let Some(connection) = self.connections.get_mut(id) {
                if let Some(event) = connection.event(id) {
                    return Some(event);
                }
                connection.is_ready = false;
            }
            self.ready.pop_front();
        }
        while let Some(socket) = self.datagrams.pop_front() {
            if self.udp.told(socket) {
                return Some(Event::Datagram(socket));
            }
        }
        core::mem::take(&mut self.has_other_addresses).then_some(Event::Addresses)
    }
}

/// The timers hand out a connection at the earliest time that it asked for, and are asked again then.
fn schedule(timers: &mut Wheel<ConnectionId>, connection: &mut Connection, id: ConnectionId, at: Time) {
    // Not before that time.
    connection.due = at.tick() + 1;
    hand_out(timers, connection, id);
}

fn hand_out(timers: &mut Wheel<ConnectionId>, connection: &mut Connection, id: ConnectionId) {
    if connection.due < connection.scheduled {
        connection.scheduled = connection.due;
        timers.schedule(id, connection.due);
    }
}
