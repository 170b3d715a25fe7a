// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a program does with UDP.

use super::Stack;
use crate::error::{ListenError, SendToError};
use crate::event::UdpId;
use crate::link::Hop;
use crate::udp;
use crate::wire::Wire;
use core::net::SocketAddr;

impl<W: Wire> Stack<W> {
    /// Receives the datagrams for a UDP port. [`Event::Datagram`](crate::Event::Datagram) says when there are any.
    ///
    /// # Errors
    ///
    /// [`ListenError`] if the port is 0, or bound.
    pub fn bind_udp(&mut self, port: u16) -> Result<UdpId, ListenError> {
        if port == 0 {
            return Err(ListenError::PortZero);
        }
        self.udp.bind(port).ok_or(ListenError::InUse(port))
    }

    /// Receives no more datagrams for a port. Those that wait are lost.
    pub fn close_udp(&mut self, socket: UdpId) {
        self.udp.close(socket);
    }

    /// Copies the oldest datagram into `bytes`, and returns its length and who has sent it; `None` if none waits. What does not
    /// fit into `bytes` is lost, and the length is the datagram's.
    ///
    /// # Errors
    ///
    /// [`SendToError::NoSuchSocket`] if it was closed.
    pub fn recv_from(&mut self, socket: UdpId, bytes: &mut [u8]) -> Result<Option<(usize, SocketAddr)>, SendToError> {
        let Some(datagram) = self.udp.take(socket).ok_or(SendToError::NoSuchSocket)? else { return Ok(None) };
        let payload = W::bytes(&datagram.frame).and_then(|frame| frame.get(datagram.at.payload)).unwrap_or_default();
        let copied = payload.len().min(bytes.len());
        bytes[..copied].copy_from_slice(&payload[..copied]);
        Ok(Some((payload.len(), datagram.at.from)))
    }

    /// Sends a datagram, with the next [`poll`](Self::poll) at the latest. Returns whether there was room: if not, try again
    /// after a `poll`.
    ///
    /// # Errors
    ///
    /// [`SendToError`] if there is no such socket, if the datagram is too long for one packet, or if there is no way to the
    /// address.
    pub fn send_to(&mut self, socket: UdpId, bytes: &[u8], to: SocketAddr) -> Result<bool, SendToError> {
        let port = self.udp.port(socket).ok_or(SendToError::NoSuchSocket)?;
        let headers = udp::headers_len(to.ip());
        let most = self.config.mtu - headers;
        if bytes.len() > most {
            return Err(SendToError::TooLong(bytes.len(), most));
        }
        let routes = self.link.routes();
        if to.port() == 0 || !routes.is_other_host(to.ip()) {
            return Err(SendToError::NoPeer(to));
        }
        let (hop, own) = routes.hop(to.ip()).zip(routes.source(to.ip())).ok_or(SendToError::NoRoute(to))?;
        if !self.link.wire.has_room() {
            return Ok(false);
        }
        let from = SocketAddr::new(own, port);
        self.link.transmit(headers + bytes.len(), Hop::Host(hop), |packet| udp::emit(from, to, bytes, packet));
        Ok(true)
    }
}
