// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the runtime asks of a stack whatever its wire is.

use super::Stack;
use crate::error::{ConnectError, ConnectionError, ListenError, SendToError};
use crate::event::{ConnectionId, ListenerId, UdpId};
use crate::tcp::{Room, Stage};
use crate::time::Time;
use crate::wire::Wire;
use core::net::{IpAddr, SocketAddr};
use ipnet::IpNet;

/// The calls of a stack, for sockets whose types do not name the wire.
pub(crate) trait Calls {
    /// When the stack was polled.
    fn now(&self) -> Time;
    /// Whether this is the stack's address, or stands for any.
    fn has_address(&self, address: IpAddr) -> bool;
    /// All addresses of the stack.
    fn own_addresses(&self) -> Vec<IpNet>;
    fn listen(&mut self, port: u16) -> Result<ListenerId, ListenError>;
    fn close_listener(&mut self, listener: ListenerId);
    fn connect(&mut self, remote: SocketAddr) -> Result<ConnectionId, ConnectError>;
    fn recv(&mut self, id: ConnectionId, bytes: &mut [u8]) -> Result<Option<usize>, ConnectionError>;
    /// As `recv`, without a copy: `take` is shown bytes that lie together, and says how many it took.
    fn recv_with(
        &mut self,
        id: ConnectionId,
        take: &mut dyn FnMut(&[u8]) -> usize,
    ) -> Result<Option<usize>, ConnectionError>;
    /// Whether `recv` would return something else than `None`.
    fn is_readable(&mut self, id: ConnectionId) -> Result<bool, ConnectionError>;
    fn send(&mut self, id: ConnectionId, bytes: &[u8]) -> Result<usize, ConnectionError>;
    fn space(&mut self, id: ConnectionId) -> Result<usize, ConnectionError>;
    fn shutdown(&mut self, id: ConnectionId) -> Result<(), ConnectionError>;
    fn close(&mut self, id: ConnectionId) -> Result<(), ConnectionError>;
    fn abort(&mut self, id: ConnectionId) -> Result<(), ConnectionError>;
    /// The stack's address and port, and the peer's.
    fn addresses(&self, id: ConnectionId) -> Result<(SocketAddr, SocketAddr), ConnectionError>;
    fn bind_udp(&mut self, port: u16) -> Result<UdpId, ListenError>;
    fn close_udp(&mut self, socket: UdpId);
    fn recv_from(&mut self, socket: UdpId, bytes: &mut [u8]) -> Result<Option<(usize, SocketAddr)>, SendToError>;
    fn send_to(&mut self, socket: UdpId, bytes: &[u8], to: SocketAddr) -> Result<bool, SendToError>;
}

impl<W: Wire> Calls for Stack<W> {
    fn now(&self) -> Time {
        self.link.now()
    }

    fn has_address(&self, address: IpAddr) -> bool {
        address.is_unspecified() || self.link.routes().is_own(address)
    }

    fn own_addresses(&self) -> Vec<IpNet> {
        self.addresses().to_vec()
    }

    fn listen(&mut self, port: u16) -> Result<ListenerId, ListenError> {
        self.listen(port)
    }

    fn close_listener(&mut self, listener: ListenerId) {
        self.close_listener(listener);
    }

    fn connect(&mut self, remote: SocketAddr) -> Result<ConnectionId, ConnectError> {
        self.connect(remote)
    }

    fn recv(&mut self, id: ConnectionId, bytes: &mut [u8]) -> Result<Option<usize>, ConnectionError> {
        self.recv(id, bytes)
    }

    fn recv_with(
        &mut self,
        id: ConnectionId,
        take: &mut dyn FnMut(&[u8]) -> usize,
    ) -> Result<Option<usize>, ConnectionError> {
        let limits = self.read_limits();
        let connection = self.live(id)?;
        let waited = connection.socket.unread();
        if waited == 0 {
            return connection.nothing_to_read();
        }
        let read = connection.read_with(take);
        match connection.after_reading(waited, limits) {
            Room::Same => (),
            other => self.has_room(id, other),
        }
        Ok(Some(read))
    }

    fn is_readable(&mut self, id: ConnectionId) -> Result<bool, ConnectionError> {
        let connection = self.live(id)?;
        let socket = &connection.socket;
        Ok(socket.unread() > 0 || socket.is_at_end() || matches!(connection.stage, Stage::Over(_)))
    }

    fn send(&mut self, id: ConnectionId, bytes: &[u8]) -> Result<usize, ConnectionError> {
        self.send(id, bytes)
    }

    fn space(&mut self, id: ConnectionId) -> Result<usize, ConnectionError> {
        self.space(id)
    }

    fn shutdown(&mut self, id: ConnectionId) -> Result<(), ConnectionError> {
        self.shutdown(id)
    }

    fn close(&mut self, id: ConnectionId) -> Result<(), ConnectionError> {
        self.close(id)
    }

    fn abort(&mut self, id: ConnectionId) -> Result<(), ConnectionError> {
        self.abort(id)
    }

    fn addresses(&self, id: ConnectionId) -> Result<(SocketAddr, SocketAddr), ConnectionError> {
        let connection = self.connections.get(id).filter(|connection| !connection.is_closed);
        let flow = connection.ok_or(ConnectionError::NoSuchConnection)?.flow;
        Ok((flow.local(), flow.remote()))
    }

    fn bind_udp(&mut self, port: u16) -> Result<UdpId, ListenError> {
        self.bind_udp(port)
    }

    fn close_udp(&mut self, socket: UdpId) {
        self.close_udp(socket);
    }

    fn recv_from(&mut self, socket: UdpId, bytes: &mut [u8]) -> Result<Option<(usize, SocketAddr)>, SendToError> {
        self.recv_from(socket, bytes)
    }

    fn send_to(&mut self, socket: UdpId, bytes: &[u8], to: SocketAddr) -> Result<bool, SendToError> {
        self.send_to(socket, bytes, to)
    }
}

impl<W: Wire> Stack<W> {
    /// Ends all connections at once, those included that the program has closed. Returns how many had not ended.
    pub(crate) fn abort_all(&mut self) -> usize {
        let all: Vec<_> = self.connections.iter().map(|(id, _)| id).collect();
        let mut aborted = 0;
        for id in all {
            let Some(connection) = self.connections.get_mut(id) else { continue };
            connection.is_closed = true;
            if matches!(connection.stage, Stage::Over(_)) {
                self.remove(id);
            } else {
                self.reset(id);
                aborted += 1;
            }
        }
        aborted
    }
}
