// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! etherparse's headers as values: `PacketHeaders`, one call that copies every header of the frame.
//!
//! It has room for one IPv6 header of each kind, and for destination options on both sides of a routing header, and stops at
//! a second header of a kind. It does not keep their order, so packets with AH are rejected here.
//! [`etherparse_sliced_packet`](super::etherparse_sliced_packet) lists the other checks. It ignores the UDP length.

use super::{NO_PORTS, Ports, TAGS, etherparse_transport, tuple};
use crate::contract::{FiveTuple, Rejected};
use etherparse::{
    IpNumber, Ipv4Header, Ipv6Extensions, Ipv6Header, LinkExtHeader, NetHeaders, PacketHeaders, PayloadSlice,
    TransportHeader, ip_number,
};

#[inline(always)]
pub(crate) fn five_tuple(frame: &[u8]) -> Result<FiveTuple, Rejected> {
    let packet = PacketHeaders::from_ethernet_slice(frame).map_err(|_| Rejected)?;
    let is_tag = |extension| matches!(extension, &LinkExtHeader::Vlan(_));
    if packet.link_exts.len() > TAGS || !packet.link_exts.iter().all(is_tag) {
        return Err(Rejected);
    }
    match &packet.net {
        Some(NetHeaders::Ipv4(ip, _)) => ipv4(ip, &packet),
        Some(NetHeaders::Ipv6(ip, extensions)) => ipv6(ip, extensions, &packet),
        _ => Err(Rejected),
    }
}

#[inline(always)]
fn ipv4(ip: &Ipv4Header, packet: &PacketHeaders<'_>) -> Result<FiveTuple, Rejected> {
    let has_ports = ip.fragment_offset.value() == 0 && ip.protocol != ip_number::AUTH;
    let ports = if has_ports { upper_layer(packet)?.1 } else { NO_PORTS };
    Ok(tuple(ip.source, ip.destination, ip.protocol, ports))
}

#[inline(always)]
fn ipv6(ip: &Ipv6Header, extensions: &Ipv6Extensions, packet: &PacketHeaders<'_>) -> Result<FiveTuple, Rejected> {
    if extensions.auth.is_some() || etherparse_transport::lacks_payload(ip.payload_length, ip.next_header) {
        return Err(Rejected);
    }
    let (protocol, ports) = match &extensions.fragment {
        Some(fragment) if fragment.fragment_offset.value() != 0 => (fragment.next_header, NO_PORTS),
        _ => upper_layer(packet)?,
    };
    // It stopped at a header of which it had one already.
    if etherparse_transport::is_extension(protocol) {
        return Err(Rejected);
    }
    Ok(tuple(ip.source, ip.destination, protocol, ports))
}

#[inline(always)]
fn upper_layer(packet: &PacketHeaders<'_>) -> Result<(IpNumber, Ports), Rejected> {
    match (&packet.transport, &packet.payload) {
        (Some(TransportHeader::Tcp(tcp)), _) => Ok((ip_number::TCP, [tcp.source_port, tcp.destination_port])),
        (Some(TransportHeader::Udp(udp)), PayloadSlice::Udp(payload)) => {
            if !(8..=8 + payload.len()).contains(&usize::from(udp.length)) {
                return Err(Rejected);
            }
            Ok((ip_number::UDP, [udp.source_port, udp.destination_port]))
        }
        (Some(TransportHeader::Icmpv4(_)), _) => Ok((ip_number::ICMP, NO_PORTS)),
        (Some(TransportHeader::Icmpv6(_)), _) => Ok((ip_number::IPV6_ICMP, NO_PORTS)),
        (Some(TransportHeader::Igmp(_)), _) => Ok((ip_number::IGMP, NO_PORTS)),
        (None, PayloadSlice::Ip(payload)) => {
            let protocol = payload.ip_number;
            let ports = etherparse_transport::ports(protocol, payload.payload, payload.fragmented)?;
            Ok((protocol, ports))
        }
        _ => Err(Rejected),
    }
}
