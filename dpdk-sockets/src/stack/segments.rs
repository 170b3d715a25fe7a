// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What happens to a received segment.

use super::Stack;
use crate::demux::Segment;
use crate::event::ConnectionId;
use crate::link::Hop;
use crate::tcp::{Arrival, Check, Connection, Stage, reset_for};
use crate::wire::Wire;

impl<W: Wire> Stack<W> {
    pub(super) fn segment(&mut self, segment: &Segment<'_>, from: Hop) {
        if let Some(id) = self.flows.get(&segment.flow) {
            self.known(*id, segment);
            return;
        }
        // The engine verifies what it gets; this is for nobody yet.
        if !segment.is_intact() {
            self.counters.ignored += 1;
            return;
        }
        match self.time_wait.arrived(segment, self.link.now()) {
            Some(Arrival::Answered(reply)) => reply.send(&mut self.link, from),
            Some(Arrival::Ignored) => (),
            Some(Arrival::Opens) | None => self.unknown(segment, from),
        }
    }

    /// A segment of a connection.
    fn known(&mut self, id: ConnectionId, segment: &Segment<'_>) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        match connection.check(segment) {
            Check::Pass => {
                if segment.syn {
                    connection.synchronize(segment.seq);
                }
                if connection.stage == Stage::Open {
                    connection.heard = self.link.now();
                }
                let hop = connection.hop;
                let sent = self.engine.receive(segment.packet, &mut connection.socket, &mut self.link, hop);
                connection.sent(sent);
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

    /// A segment of no connection.
    fn unknown(&mut self, segment: &Segment<'_>, from: Hop) {
        let is_syn = segment.syn && segment.ack.is_none() && !segment.rst && !segment.fin;
        let listener = self.ports.get(&segment.flow.local().port()).copied();
        match listener.filter(|_| is_syn) {
            Some(listener) => {
                let flow = segment.flow;
                let Some(waiting) = self.listeners.get_mut(listener) else { return };
                let Some(hop) = self.link.hop(*flow.remote().ip()) else { return };
                if waiting.half_open >= self.config.backlog || self.connections.len() >= self.config.connections {
                    self.counters.overflows += 1;
                    return;
                }
                let now = self.link.now();
                let initial = self.initial.number(flow, now);
                let (hop, buffers) = (Hop::Host(hop), self.buffers);
                let accepted = self.engine.accept(segment.packet, flow.local(), initial, buffers, &mut self.link, hop);
                let Some(socket) = accepted else { return };
                waiting.half_open += 1;
                let mut connection = Connection::new(socket, flow, hop, Some(listener), initial, now);
                connection.synchronize(segment.seq);
                self.insert(connection);
            }
            None => {
                if let Some(reply) = reset_for(segment) {
                    self.counters.refused += 1;
                    reply.send(&mut self.link, from);
                }
            }
        }
    }
}
