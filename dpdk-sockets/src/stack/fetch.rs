// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Brings what the next segments need into the cache, while those before them are handled.

use super::Stack;
use crate::demux;
use crate::event::ConnectionId;
use crate::tcp::Connection;
use crate::wire::{BURST, Wire};
use core::ptr::from_ref;
use dpdk_rs::prefetch;

/// With so many connections or more, most of them are not in the cache.
const MANY: usize = 2_000;

/// The bytes of a frame in which its headers are.
const HEADERS: usize = 128;

/// What a connection refers to is asked for while so many segments are before its own: the socket, and after that the place in
/// its buffer. All at once would not stay in the first-level cache.
const SOCKET_AHEAD: usize = 4;
const ROOM_AHEAD: usize = 2;

impl<W: Wire> Stack<W> {
    /// The next received frame.
    #[inline]
    pub(super) fn next_frame(&mut self) -> Option<W::Frame> {
        if self.arrived.is_empty() {
            if self.connections.len() < MANY {
                return self.link.wire.receive();
            }
            self.receive_burst();
        }
        if !self.guesses.is_empty() {
            self.fetch_ahead();
        }
        self.arrived.pop_front()
    }

    /// Receives frames, and asks for what the first of them need. The rounds of each loop do not depend on each other, so
    /// the processor waits for the memory of all of them at once, and not for one frame after the other.
    #[cold]
    fn receive_burst(&mut self) {
        while self.arrived.len() < BURST.min(W::BURST)
            && let Some(frame) = self.link.wire.receive()
        {
            self.arrived.push_back(frame);
        }
        // A single one has nothing to wait together with.
        if self.arrived.len() <= 1 {
            return;
        }
        self.guess_connections();
        self.fetch_connections(self.guesses.iter().copied());
        for at in 0..SOCKET_AHEAD {
            self.fetch_socket(at);
        }
        for at in 0..ROOM_AHEAD {
            self.fetch_room(at);
        }
    }

    fn guess_connections(&mut self) {
        for bytes in self.arrived.iter().filter_map(W::bytes) {
            prefetch(bytes.as_ptr().addr(), HEADERS);
        }
        let vlan = self.link.vlan();
        let mut hashes = [0; BURST];
        for (frame, hash) in self.arrived.iter().zip(&mut hashes) {
            let flow = W::bytes(frame).and_then(|bytes| demux::flow(bytes, vlan));
            *hash = flow.map_or(0, |flow| self.connections.hash(flow));
        }
        let hashes = hashes.iter().take(self.arrived.len());
        self.guesses.extend(hashes.map(|hash| self.connections.guess(*hash).unwrap_or_default()));
    }

    fn fetch_ahead(&mut self) {
        self.fetch_socket(SOCKET_AHEAD);
        self.fetch_room(ROOM_AHEAD);
        self.guess = self.guesses.pop_front().unwrap_or_default();
    }

    fn fetch_socket(&self, at: usize) {
        if let Some(connection) = self.guesses.get(at).and_then(|id| self.connections.get(*id)) {
            connection.socket.fetch();
        }
    }

    fn fetch_room(&mut self, at: usize) {
        if let Some(connection) = self.guesses.get(at).and_then(|id| self.connections.get_mut(*id)) {
            connection.socket.fetch_room();
        }
    }

    /// Begins to bring these connections into the cache, but not their sockets.
    pub(super) fn fetch_connections(&self, ids: impl Iterator<Item = ConnectionId>) {
        if self.connections.len() >= MANY {
            for connection in ids.filter_map(|id| self.connections.get(id)) {
                prefetch(from_ref(connection).addr(), size_of::<Connection>());
            }
        }
    }
}
