// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! UDP (RFC 768): ports, and the datagrams that wait for the program in their frames.

use crate::event::UdpId;
use core::net::{IpAddr, SocketAddr};
use core::ops::Range;
use slotmap::SlotMap;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{IpProtocol, IpRepr, UdpPacket, UdpRepr};
use std::collections::{HashMap, VecDeque};

/// As many datagrams wait for the program. Each keeps its frame.
const MOST_WAITING: usize = 64;

/// The ports that the program has bound.
#[derive(Debug)]
pub(crate) struct UdpPorts<F> {
    sockets: SlotMap<UdpId, Socket<F>>,
    ports: HashMap<u16, UdpId>,
}

#[derive(Debug)]
struct Socket<F> {
    port: u16,
    received: VecDeque<Datagram<F>>,
    /// Whether the program has to be told of what has arrived.
    is_news: bool,
}

/// A datagram in its frame.
#[derive(Debug)]
pub(crate) struct Datagram<F> {
    pub(crate) frame: F,
    pub(crate) at: Place,
}

/// Where a datagram is in its frame, and who has sent it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) from: SocketAddr,
    pub(crate) payload: Range<usize>,
}

impl<F> Default for UdpPorts<F> {
    fn default() -> Self {
        Self { sockets: SlotMap::with_key(), ports: HashMap::new() }
    }
}

impl<F> UdpPorts<F> {
    /// Binds a port that is free.
    pub(crate) fn bind(&mut self, port: u16) -> Option<UdpId> {
        if self.ports.contains_key(&port) {
            return None;
        }
        let id = self.sockets.insert(Socket { port, received: VecDeque::new(), is_news: false });
        self.ports.insert(port, id);
        Some(id)
    }

    pub(crate) fn close(&mut self, id: UdpId) {
        if let Some(socket) = self.sockets.remove(id) {
            self.ports.remove(&socket.port);
        }
    }

    /// The port of a socket.
    pub(crate) fn port(&self, id: UdpId) -> Option<u16> {
        self.sockets.get(id).map(|socket| socket.port)
    }

    /// Who has bound a port.
    pub(crate) fn bound(&self, port: u16) -> Option<UdpId> {
        self.ports.get(&port).copied()
    }

    /// Keeps a datagram for the program. Returns whether there was room, and whether the program has to be told.
    pub(crate) fn arrived(&mut self, id: UdpId, datagram: Datagram<F>) -> (bool, bool) {
        let Some(socket) = self.sockets.get_mut(id) else { return (false, false) };
        if socket.received.len() == MOST_WAITING {
            return (false, false);
        }
        socket.received.push_back(datagram);
        (true, !core::mem::replace(&mut socket.is_news, true))
    }

    /// The program is told.
    pub(crate) fn told(&mut self, id: UdpId) -> bool {
        self.sockets.get_mut(id).is_some_and(|socket| core::mem::take(&mut socket.is_news))
    }

    /// The oldest datagram. `None` if there is no such socket.
    pub(crate) fn take(&mut self, id: UdpId) -> Option<Option<Datagram<F>>> {
        self.sockets.get_mut(id).map(|socket| socket.received.pop_front())
    }
}

/// The port of a datagram that begins at `offset` of its frame, and where it is. `None` if nobody can have sent it.
pub(crate) fn place(udp: &UdpPacket<&[u8]>, from: IpAddr, offset: usize) -> Option<(u16, Place)> {
    if udp.src_port() == 0 {
        return None;
    }
    let start = offset + smoltcp::wire::UDP_HEADER_LEN;
    let payload = start..start + udp.payload().len();
    Some((udp.dst_port(), Place { from: SocketAddr::new(from, udp.src_port()), payload }))
}

/// The length of the headers of IP and UDP in packets to this address, in bytes.
pub(crate) const fn headers_len(to: IpAddr) -> usize {
    let ip = if to.is_ipv4() { smoltcp::wire::IPV4_HEADER_LEN } else { smoltcp::wire::IPV6_HEADER_LEN };
    ip + smoltcp::wire::UDP_HEADER_LEN
}

/// Writes a datagram as an IP packet, without checksums. Both addresses are of one version of IP.
pub(crate) fn emit(from: SocketAddr, to: SocketAddr, payload: &[u8], packet: &mut [u8]) {
    let udp = UdpRepr { src_port: from.port(), dst_port: to.port() };
    let len = udp.header_len() + payload.len();
    let ip = IpRepr::new(from.ip().into(), to.ip().into(), IpProtocol::Udp, len, 64);
    let checksums = ChecksumCapabilities::ignored();
    ip.emit(&mut *packet, &checksums);
    udp.emit(
        &mut UdpPacket::new_unchecked(&mut packet[ip.header_len()..]),
        &ip.src_addr(),
        &ip.dst_addr(),
        payload.len(),
        |bytes| bytes.copy_from_slice(payload),
        &checksums,
    );
}
