// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a program does with connections.

use super::{Listener, Stack};
use crate::demux::Flow;
use crate::error::{ConnectError, ConnectionError, ListenError};
use crate::event::{ConnectionId, Ended, ListenerId};
use crate::link::Hop;
use crate::tcp::{Connection, FIRST_DYNAMIC_PORT, Room, Stage};
use crate::wire::Wire;
use core::net::{IpAddr, SocketAddr};

impl<W: Wire> Stack<W> {
    /// Accepts connections to a port. They come as [`Event::Accepted`](crate::Event::Accepted).
    ///
    /// # Errors
    ///
    /// [`ListenError`] if the port is 0, or has a listener.
    pub fn listen(&mut self, port: u16) -> Result<ListenerId, ListenError> {
        if port == 0 {
            return Err(ListenError::PortZero);
        }
        if self.ports.contains_key(&port) {
            return Err(ListenError::InUse(port));
        }
        let listener = self.listeners.insert(Listener { port, half_open: 0 });
        self.ports.insert(port, listener);
        Ok(listener)
    }

    /// Accepts no more connections. Those that were accepted go on; those whose handshake is not complete are reset.
    pub fn close_listener(&mut self, listener: ListenerId) {
        if let Some(listener) = self.listeners.remove(listener) {
            self.ports.remove(&listener.port);
        }
    }

    /// Begins to connect to a host. [`Event::Connected`](crate::Event::Connected) follows, or
    /// [`Event::Ended`](crate::Event::Ended).
    ///
    /// # Errors
    ///
    /// [`ConnectError`] if the address or port is no host's, if there is no way to it, no free port, or no free connection.
    pub fn connect(&mut self, remote: SocketAddr) -> Result<ConnectionId, ConnectError> {
        let (host, routes) = (remote.ip(), self.link.routes());
        if remote.port() == 0 || !routes.is_other_host(host) {
            return Err(ConnectError::NoPeer(remote));
        }
        let (hop, own) = routes.hop(host).zip(routes.source(host)).ok_or(ConnectError::NoRoute(remote))?;
        if self.connections.len() >= self.config.connections {
            return Err(ConnectError::Full(self.config.connections));
        }
        let flow = self.free_flow(own, remote).ok_or(ConnectError::NoPort(remote))?;
        let now = self.link.now();
        let initial = self.initial.number(flow, now);
        let socket = self.engine.connect(flow.local(), flow.remote(), initial, self.buffers, now);
        let socket = socket.ok_or(ConnectError::NoPeer(remote))?;
        // How long segments the peer takes is not known yet.
        let way = (Hop::Host(hop), self.path(flow, 0));
        self.counters.connects += 1;
        Ok(self.insert(Connection::new(socket, flow, way, None, initial, now)))
    }

    /// A flow to a peer that no connection has, and whose segments come to this stack (RFC 6056, algorithm 3).
    fn free_flow(&mut self, own: IpAddr, remote: SocketAddr) -> Option<Flow> {
        let first = self.initial.first_port(remote, self.ports_tried);
        let ports = (first..=u16::MAX).chain(FIRST_DYNAMIC_PORT..first);
        let mut flows = ports.map(|port| Flow::new(SocketAddr::new(own, port), remote)).zip(1..);
        let (flow, tried) = flows.find(|(flow, _)| {
            self.connections.find(*flow).is_none() && !self.time_wait.contains(*flow) && self.is_own(*flow)
        })?;
        self.ports_tried += tried;
        Some(flow)
    }

    /// Copies received bytes into `bytes`, and returns how many; `Some(0)` if the peer has closed its direction and
    /// everything was read; `None` if there is nothing to read now, or no room in `bytes`.
    ///
    /// # Errors
    ///
    /// [`ConnectionError`] if there is no such connection, or if it ended otherwise than by being closed.
    pub fn recv(&mut self, id: ConnectionId, bytes: &mut [u8]) -> Result<Option<usize>, ConnectionError> {
        let limits = self.read_limits();
        let connection = self.live(id)?;
        if bytes.is_empty() {
            return Ok(None);
        }
        let waited = connection.socket.unread();
        if waited > 0 {
            let read = connection.read(bytes);
            match connection.after_reading(waited, limits) {
                Room::Same => (),
                other => self.has_room(id, other),
            }
            return Ok(Some(read));
        }
        connection.nothing_to_read()
    }

    /// The maximum length of a packet, and the size of the receive buffer.
    pub(super) fn read_limits(&self) -> (usize, usize) {
        (self.config.mtu, self.config.receive_buffer)
    }

    /// Copies bytes to send into the connection's buffer, and returns how many it took. If it did not take all,
    /// [`Event::Writable`](crate::Event::Writable) follows when there is space. The bytes leave with the next
    /// [`poll`](Self::poll).
    ///
    /// # Errors
    ///
    /// [`ConnectionError`] if there is no such connection, if it is not established, was shut down, or has ended.
    pub fn send(&mut self, id: ConnectionId, bytes: &[u8]) -> Result<usize, ConnectionError> {
        let now = self.link.now();
        let may_be_too_small = bytes.len() > self.buffers.send;
        let mut connection = self.writable(id)?;
        if may_be_too_small && connection.socket.space() < bytes.len() {
            self.grow_to_send(id);
            connection = self.writable(id)?;
        }
        if connection.socket.unacknowledged() == 0 {
            connection.heard = now;
        }
        connection.active = now;
        let taken = connection.write(bytes);
        connection.wants_space = taken < bytes.len();
        self.counters.bytes_sent += taken as u64;
        self.mark_dirty(id);
        Ok(taken)
    }

    /// How many bytes [`send`](Self::send) takes now. If that is 0, [`Event::Writable`](crate::Event::Writable) follows when
    /// there is space.
    ///
    /// # Errors
    ///
    /// As of [`send`](Self::send).
    pub fn space(&mut self, id: ConnectionId) -> Result<usize, ConnectionError> {
        let most = self.config.send_buffer;
        let connection = self.writable(id)?;
        let space = connection.space(most);
        connection.wants_space |= space == 0;
        Ok(space)
    }

    /// Closes the direction to the peer, after all that was sent. The peer can go on.
    ///
    /// # Errors
    ///
    /// [`ConnectionError`] if there is no such connection, if it is not established, or has ended.
    pub fn shutdown(&mut self, id: ConnectionId) -> Result<(), ConnectionError> {
        let now = self.link.now();
        let connection = self.live(id)?;
        match connection.stage {
            Stage::Opening => return Err(ConnectionError::NotEstablished),
            Stage::Over(how) => return Err(ConnectionError::Ended(how)),
            Stage::Open => (),
        }
        if !connection.is_shut_down {
            connection.is_shut_down = true;
            connection.heard = now;
            connection.finish();
            self.mark_dirty(id);
        }
        Ok(())
    }

    /// Gives a connection back. What was sent still reaches the peer; what was received and not read is lost, and the peer
    /// gets a reset (RFC 1122, section 4.2.2.13). The handle stands for nothing afterwards.
    ///
    /// # Errors
    ///
    /// [`ConnectionError::NoSuchConnection`] if it was closed before.
    pub fn close(&mut self, id: ConnectionId) -> Result<(), ConnectionError> {
        let now = self.link.now();
        let connection = self.live(id)?;
        connection.is_closed = true;
        match connection.stage {
            Stage::Over(_) => {
                self.remove(id);
            }
            Stage::Opening => self.reset(id),
            Stage::Open if connection.socket.unread() > 0 => self.reset(id),
            Stage::Open => {
                if !connection.is_shut_down {
                    connection.heard = now;
                    connection.finish();
                }
                self.mark_dirty(id);
            }
        }
        Ok(())
    }

    /// Ends a connection at once: the peer gets a reset, and what was sent may be lost.
    ///
    /// # Errors
    ///
    /// [`ConnectionError::NoSuchConnection`] if it was closed before.
    pub fn abort(&mut self, id: ConnectionId) -> Result<(), ConnectionError> {
        let connection = self.live(id)?;
        connection.is_closed = true;
        match connection.stage {
            Stage::Over(_) => {
                self.remove(id);
            }
            _ => self.reset(id),
        }
        Ok(())
    }

    /// The peer of a connection.
    ///
    /// # Errors
    ///
    /// [`ConnectionError::NoSuchConnection`] if it was closed before.
    pub fn peer(&self, id: ConnectionId) -> Result<SocketAddr, ConnectionError> {
        let connection = self.connections.get(id).filter(|connection| !connection.is_closed);
        connection.map(|connection| connection.flow.remote()).ok_or(ConnectionError::NoSuchConnection)
    }

    pub(super) fn reset(&mut self, id: ConnectionId) {
        if let Some(connection) = self.connections.get_mut(id) {
            connection.socket.abort();
            self.over(id, Ended::Reset);
        }
    }

    /// A connection whose direction to the peer is open.
    fn writable(&mut self, id: ConnectionId) -> Result<&mut Connection, ConnectionError> {
        let connection = self.live(id)?;
        match connection.stage {
            Stage::Opening => Err(ConnectionError::NotEstablished),
            Stage::Over(how) => Err(ConnectionError::Ended(how)),
            Stage::Open if connection.is_shut_down => Err(ConnectionError::ShutDown),
            Stage::Open => Ok(connection),
        }
    }

    /// A connection that the program has not closed.
    pub(super) fn live(&mut self, id: ConnectionId) -> Result<&mut Connection, ConnectionError> {
        let connection = self.connections.get_mut(id).filter(|connection| !connection.is_closed);
        connection.ok_or(ConnectionError::NoSuchConnection)
    }
}
