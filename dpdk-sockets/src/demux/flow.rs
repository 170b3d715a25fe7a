// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The two ends of a connection.

use crate::ip;
use core::net::{IpAddr, Ipv6Addr, SocketAddr};
use smoltcp::wire::{IpProtocol, Ipv4Packet, Ipv6Packet};

/// The two ends of a connection. An IPv4 address is kept as IPv6 writes it (RFC 4291, section 2.5.5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Flow {
    local: u128,
    remote: u128,
    /// The local port and the remote one.
    ports: u32,
}

/// The 96 bits before an IPv4 address.
const IPV4: u128 = 0xffff;

impl Flow {
    pub(crate) fn new(local: SocketAddr, remote: SocketAddr) -> Self {
        let ports = u32::from(local.port()) << 16 | u32::from(remote.port());
        Self { local: bits(local.ip()), remote: bits(remote.ip()), ports }
    }

    /// The flow of an IP packet at the host that gets it, if the packet looks like a TCP segment. Nothing is checked.
    pub(crate) fn of(packet: &[u8]) -> Option<Self> {
        let (header_len, protocol) = ip::header(packet)?;
        let (from, to): (IpAddr, IpAddr) = if ip::is_ipv6(packet) {
            let ip = Ipv6Packet::new_unchecked(packet);
            (ip.src_addr().into(), ip.dst_addr().into())
        } else {
            let ip = Ipv4Packet::new_unchecked(packet);
            (ip.src_addr().into(), ip.dst_addr().into())
        };
        let [a, b, c, d] = *packet.get(header_len..)?.first_chunk()?;
        let (from, to) = ((from, u16::from_be_bytes([a, b])).into(), (to, u16::from_be_bytes([c, d])).into());
        (protocol == IpProtocol::Tcp).then(|| Self::new(to, from))
    }

    /// As the peer sees it.
    pub(crate) fn reversed(self) -> Self {
        Self { local: self.remote, remote: self.local, ports: self.ports.rotate_left(16) }
    }

    pub(crate) fn local(self) -> SocketAddr {
        SocketAddr::new(address(self.local), (self.ports >> 16) as u16)
    }

    pub(crate) fn remote(self) -> SocketAddr {
        SocketAddr::new(address(self.remote), self.ports as u16)
    }

    pub(crate) const fn is_ipv4(self) -> bool {
        self.local >> 32 == IPV4
    }

    /// The length of the headers of IP and TCP without options, in bytes.
    pub(crate) const fn headers_len(self) -> usize {
        if self.is_ipv4() { 40 } else { 60 }
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => IPV4 << 32 | u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

fn address(bits: u128) -> IpAddr {
    Ipv6Addr::from_bits(bits).to_canonical()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_kept() {
        for (local, remote, headers) in [
            ("192.0.2.1:80", "203.0.113.255:65535", 40),
            ("[2001:db8::1]:80", "[fe80::ffff:ffff]:65535", 60),
            ("[::2]:1", "[::ffff:0:0:1]:2", 60),
        ] {
            let (local, remote) = (local.parse().unwrap(), remote.parse().unwrap());
            let flow = Flow::new(local, remote);
            assert_eq!((flow.local(), flow.remote(), flow.headers_len()), (local, remote, headers));
            assert_ne!(flow, Flow::new(remote, local));
            assert_eq!(flow.reversed(), Flow::new(remote, local));
        }
    }
}
