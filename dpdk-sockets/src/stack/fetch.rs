// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Brings what the segments of a burst need into the cache, for all of them at once.

use super::Stack;
use crate::demux;
use crate::wire::{BURST, Wire};
use core::hint::black_box;

/// With so many connections or more, most of them are not in the cache.
const MANY: usize = 2_000;

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
        self.arrived.pop_front()
    }

    /// Receives frames, and reads something of the connections that they are for. The rounds of each loop do not depend on each
    /// other, so the processor waits for the memory of all of them at once, and not for one segment after the other.
    #[cold]
    fn receive_burst(&mut self) {
        while self.arrived.len() < BURST.min(W::BURST)
            && let Some(frame) = self.link.wire.receive()
        {
            self.arrived.push_back(frame);
        }
        // A single one has nothing to wait together with.
        if self.arrived.len() > 1 {
            self.fetch();
        }
    }

    fn fetch(&self) {
        let vlan = self.link.vlan();
        let mut ids = [None; BURST];
        for (frame, id) in self.arrived.iter().zip(&mut ids) {
            let flow = W::bytes(frame).and_then(|bytes| demux::flow(bytes, vlan));
            *id = flow.and_then(|flow| self.flows.get(&flow)).copied();
        }
        let connections = || ids.iter().take(self.arrived.len()).flatten().filter_map(|id| self.connections.get(*id));
        for connection in connections() {
            black_box(connection.fetch());
        }
        for connection in connections() {
            black_box(connection.socket.fetch());
        }
    }
}
