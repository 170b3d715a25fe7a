// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a stack shows of itself.

use super::Stack;
use crate::error::ConnectionError;
use crate::event::ConnectionId;
use crate::tcp::Connection;
use crate::watch::capture::Capture;
use crate::watch::{ConnectionInfo, Counters, MOST_LOOKED_AT, PAGE, Page, Query, Question, Sums, Watched};
use crate::wire::Wire;
use std::io;

impl<W: Wire> Stack<W> {
    /// What was counted.
    pub fn counters(&self) -> Counters {
        let link = self.link.counters();
        Counters { unresolved: link.unresolved, dropped: link.dropped, ..self.counters }
    }

    /// All connections as they were when the stack was polled last, in any order: those that [`connections`](Self::connections)
    /// counts.
    pub fn list(&self) -> impl Iterator<Item = ConnectionInfo> {
        self.connections.iter().map(|(id, connection)| self.info_of(id, connection))
    }

    /// What is known of a connection.
    ///
    /// # Errors
    ///
    /// [`ConnectionError::NoSuchConnection`] if it was closed before.
    pub fn info(&self, id: ConnectionId) -> Result<ConnectionInfo, ConnectionError> {
        let connection = self.connections.get(id).filter(|connection| !connection.is_closed);
        let info = connection.map(|connection| self.info_of(id, connection));
        info.ok_or(ConnectionError::NoSuchConnection)
    }

    fn info_of(&self, id: ConnectionId, connection: &Connection) -> ConnectionInfo {
        let mtu = self.engine.path_mtu(connection.path).bytes();
        connection.info(id, mtu, self.link.now(), &self.patience)
    }

    /// How many connections are in TIME-WAIT.
    #[must_use]
    pub fn time_waits(&self) -> usize {
        self.time_wait.len()
    }

    /// Begins to copy the IP packets of a connection, of both directions, into a file of the format pcap, which `tcpdump -r`
    /// and Wireshark read. To have the handshake in it, call this after [`connect`](Self::connect), before the next
    /// [`poll`](Self::poll).
    ///
    /// The stack waits for the writer with each packet: give a [`BufWriter`](io::BufWriter), or memory. If a write fails, nothing
    /// more is written, and [`end_capture`](Self::end_capture) says so. Checksums that the device writes are not in the copies.
    /// Connections that are not captured cost nothing more.
    ///
    /// # Errors
    ///
    /// [`ConnectionError::NoSuchConnection`] if it was closed before.
    pub fn capture(
        &mut self,
        id: ConnectionId,
        writer: impl io::Write + Send + 'static,
    ) -> Result<(), ConnectionError> {
        let (flow, now) = (self.live(id)?.flow, self.link.now());
        self.link.captures.push(Capture::new(id, flow, Box::new(writer), now));
        Ok(())
    }

    /// Ends what [`capture`](Self::capture) has begun first for this connection, also after the connection was closed. `None` if
    /// there is nothing to end.
    pub fn end_capture(&mut self, id: ConnectionId) -> Option<io::Result<()>> {
        let captures = &mut self.link.captures;
        let place = captures.iter().position(|capture| capture.id == id)?;
        Some(captures.remove(place).end())
    }

    pub(crate) fn watch(&mut self, watched: Watched) {
        self.watched = Some(watched);
    }

    /// Answers those who have asked. They may not wait any more.
    pub(super) fn answer(&self) {
        let Some(watched) = &self.watched else { return };
        for question in watched.questions.try_iter() {
            let _ = match question {
                Question::Counters(answer) => answer.try_send(self.sums()).is_ok(),
                Question::Connections(query, answer) => answer.try_send(self.page(&query)).is_ok(),
            };
        }
    }

    fn sums(&self) -> Sums {
        Sums { counters: self.counters(), connections: self.connections(), time_waits: self.time_waits() }
    }

    fn page(&self, query: &Query) -> Page {
        let mut page = Page { total: self.connections(), ..Page::default() };
        for (place, (id, connection)) in self.connections.iter().enumerate().skip(query.from) {
            if page.connections.len() == PAGE || place - query.from == MOST_LOOKED_AT {
                page.next = Some(place);
                break;
            }
            let info = self.info_of(id, connection);
            if query.wants(&info) {
                page.connections.push((place, info));
            }
        }
        page
    }
}
