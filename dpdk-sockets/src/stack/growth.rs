// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Connections get the buffers of the configuration when they need them.

use super::Stack;
use crate::engine::Buffers;
use crate::event::ConnectionId;
use crate::tcp::Room;
use crate::wire::Wire;

impl<W: Wire> Stack<W> {
    /// The program has written more than the send buffer takes.
    pub(super) fn grow_to_send(&mut self, id: ConnectionId) {
        let most = self.config.send_buffer;
        self.grow(id, |buffers| Buffers { send: most, ..buffers });
    }

    /// The program has read.
    #[cold]
    pub(super) fn has_room(&mut self, id: ConnectionId, room: Room) {
        let most = self.config.receive_buffer;
        if room == Room::TooSmall {
            self.grow(id, |buffers| Buffers { receive: most, ..buffers });
        }
        self.mark_dirty(id);
    }

    /// The caller marks the connection as dirty.
    fn grow(&mut self, id: ConnectionId, larger: impl FnOnce(Buffers) -> Buffers) {
        let Some(connection) = self.connections.get_mut(id) else { return };
        let Some(again) = connection.handshake() else { return };
        let (buffers, place) = (larger(connection.socket.buffers()), (connection.flow.local(), connection.path));
        let packets = [&again.syn[..], &again.ack];
        if let Some(socket) = self.engine.shake(packets, place, again.initial, buffers, &mut self.link) {
            connection.continue_with(socket);
        }
    }
}
