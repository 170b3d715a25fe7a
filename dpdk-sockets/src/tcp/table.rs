// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! All connections of a stack, found by what the program knows of them, and by what segments say.

use super::{Connection, Stage};
use crate::demux::Flow;
use crate::event::ConnectionId;
use ahash::RandomState;
use hashbrown::HashTable;
use slotmap::SlotMap;

#[derive(Debug, Default)]
pub(crate) struct ConnectionTable {
    /// In boxes: where a connection is, is known without reading it.
    connections: SlotMap<ConnectionId, Box<Connection>>,
    /// Those that segments can come for. Their flows are looked up in the connections, which a segment needs anyway.
    listed: HashTable<ConnectionId>,
    /// Keyed with random numbers, since the peers choose the flows.
    hashes: RandomState,
}

impl ConnectionTable {
    pub(crate) fn len(&self) -> usize {
        self.connections.len()
    }

    #[inline]
    pub(crate) fn get(&self, id: ConnectionId) -> Option<&Connection> {
        self.connections.get(id).map(Box::as_ref)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, id: ConnectionId) -> Option<&mut Connection> {
        self.connections.get_mut(id).map(Box::as_mut)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (ConnectionId, &Connection)> {
        self.connections.iter().map(|(id, connection)| (id, &**connection))
    }

    /// Adds a connection whose flow no listed one has.
    pub(crate) fn insert(&mut self, connection: Connection) -> ConnectionId {
        let hash = self.hash(connection.flow);
        let id = self.connections.insert(Box::new(connection));
        let flow = |id: &ConnectionId| self.connections.get(*id).map(|connection| connection.flow);
        self.listed.insert_unique(hash, id, |id| flow(id).map_or(0, |flow| self.hashes.hash_one(flow)));
        id
    }

    /// The connection that segments of a flow are for.
    pub(crate) fn find(&self, flow: Flow) -> Option<ConnectionId> {
        let is_it = |id: &ConnectionId| self.connections.get(*id).is_some_and(|connection| connection.flow == flow);
        self.listed.find(self.hash(flow), is_it).copied()
    }

    /// As [`find`](Self::find), if it is most probably this one.
    #[inline]
    pub(crate) fn confirm(&self, flow: Flow, guess: ConnectionId) -> Option<ConnectionId> {
        let is_it = |connection: &Connection| connection.flow == flow && !matches!(connection.stage, Stage::Over(_));
        if self.get(guess).is_some_and(is_it) { Some(guess) } else { self.find(flow) }
    }

    /// The connection that segments with this hash of a flow are most probably for, found without reading it.
    #[inline]
    pub(crate) fn guess(&self, hash: u64) -> Option<ConnectionId> {
        self.listed.iter_hash(hash).next().copied()
    }

    #[inline]
    pub(crate) fn hash(&self, flow: Flow) -> u64 {
        self.hashes.hash_one(flow)
    }

    /// Segments of its flow are no longer for a connection.
    pub(crate) fn unlist(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get(id)
            && let Ok(listed) = self.listed.find_entry(self.hash(connection.flow), |other| *other == id)
        {
            listed.remove();
        }
    }

    pub(crate) fn remove(&mut self, id: ConnectionId) -> Option<Box<Connection>> {
        self.unlist(id);
        self.connections.remove(id)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::engine::{Buffers, Engine};
    use crate::event::Ended;
    use crate::link::Hop;
    use crate::time::Time;
    use smoltcp::wire::TcpSeqNumber;

    fn connection(engine: &mut Engine, port: u16) -> Connection {
        let flow = Flow::new(([192, 0, 2, 1], 80).into(), ([192, 0, 2, 2], port).into());
        let (initial, buffers) = (TcpSeqNumber(0), Buffers { receive: 1, send: 1 });
        let socket = engine.connect(flow.local(), flow.remote(), initial, buffers, Time::ZERO).unwrap();
        let path = engine.path(flow.local().ip(), engine.longest(), false);
        Connection::new(socket, flow, (Hop::Nowhere, path), None, initial, Time::ZERO)
    }

    #[test]
    fn segments_find_the_connection_that_is_not_over() {
        let mut engine = Engine::new(1_500, 0, None, None);
        let mut table = ConnectionTable::default();
        let ids: Vec<_> = (1..=1_000).map(|port| table.insert(connection(&mut engine, port))).collect();
        let flows: Vec<_> = ids.iter().map(|id| table.get(*id).unwrap().flow).collect();
        let guessed = |table: &ConnectionTable, at: usize| table.guess(table.hash(flows[at])) == Some(ids[at]);
        let right = (0..ids.len()).filter(|at| guessed(&table, *at)).count();
        // A guess is by 7 bits of a hash.
        assert!(right > 900, "{right} guesses of 1,000 are right");
        for (at, id) in ids.iter().enumerate() {
            assert_eq!(table.find(flows[at]), Some(*id));
            for guess in [*id, ids[(at + 1) % ids.len()], ConnectionId::default()] {
                assert_eq!(table.confirm(flows[at], guess), Some(*id));
            }
        }
        // The program has not closed the first, and its peer opens another one.
        table.unlist(ids[0]);
        table.get_mut(ids[0]).unwrap().stage = Stage::Over(Ended::Closed);
        assert_eq!((table.find(flows[0]), table.confirm(flows[0], ids[0])), (None, None));
        let other = table.insert(connection(&mut engine, 1));
        assert_eq!((table.find(flows[0]), table.confirm(flows[0], ids[0])), (Some(other), Some(other)));
        assert!(table.remove(ids[0]).is_some());
        assert_eq!((table.find(flows[0]), table.len()), (Some(other), ids.len()));
        assert!(table.remove(other).is_some());
        assert_eq!(table.find(flows[0]), None);
    }
}
