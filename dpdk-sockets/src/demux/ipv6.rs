// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What an IPv6 packet carries (RFC 8200). Packets with extension headers are ignored.

use super::{Inbound, Packet, transport, undelivered};
use crate::link::Routes;
use crate::wire::Checksums;
use core::net::IpAddr;
use smoltcp::wire::{EthernetAddress, IPV6_HEADER_LEN, Icmpv6Packet, IpProtocol, Ipv6Packet};

/// Looks at a packet, which begins after so many bytes of its frame.
pub(super) fn inbound<'f>(
    frame: &'f [u8],
    offset: usize,
    mac: EthernetAddress,
    routes: &Routes,
    verified: Checksums,
) -> Inbound<'f> {
    let bytes = &frame[offset..];
    let Ok(packet) = Ipv6Packet::new_checked(bytes) else { return Inbound::Ignored };
    let (from, to) = (IpAddr::V6(packet.src_addr()), IpAddr::V6(packet.dst_addr()));
    // The rest is padding of the frame.
    let bytes = &bytes[..packet.total_len()];
    if is_neighbor_discovery(&packet) {
        return Inbound::Neighbor(bytes, mac);
    }
    // Nobody else has this host's addresses.
    if packet.version() != 6 || !routes.is_own(to) || !routes.is_other_host(from) {
        return Inbound::Ignored;
    }
    let whole = Packet { bytes, to, from: mac };
    match packet.next_header() {
        IpProtocol::Tcp => transport::tcp(whole, IPV6_HEADER_LEN, from, verified),
        IpProtocol::Udp => transport::udp(whole, offset, IPV6_HEADER_LEN, from, verified),
        IpProtocol::Icmpv6 => undelivered::icmpv6(&packet).map_or(Inbound::Icmp(whole), Inbound::Undelivered),
        IpProtocol::Ipv6Frag => Inbound::Fragment,
        _ => Inbound::Ignored,
    }
}

/// Looks at a packet that went to a group of hosts: of those, only neighbor discovery is for this one.
pub(super) fn to_a_group(bytes: &[u8], mac: EthernetAddress) -> Inbound<'_> {
    match Ipv6Packet::new_checked(bytes) {
        Ok(packet) if is_neighbor_discovery(&packet) => Inbound::Neighbor(&bytes[..packet.total_len()], mac),
        _ => Inbound::Ignored,
    }
}

/// Whether this is a message of RFC 4861 from the same link: no router forwards packets with the largest hop limit unchanged.
fn is_neighbor_discovery(packet: &Ipv6Packet<&[u8]>) -> bool {
    packet.version() == 6
        && packet.next_header() == IpProtocol::Icmpv6
        && packet.hop_limit() == u8::MAX
        && Icmpv6Packet::new_checked(packet.payload()).is_ok_and(|message| message.msg_type().is_ndisc())
}
