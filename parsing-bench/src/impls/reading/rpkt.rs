// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! rpkt: packets over a cursor, IPv6 extension headers included, but no tags.
//!
//! The caller must check both versions, and the UDP header of a fragmented datagram.

use super::{NO_PORTS, Ports, by_hand, tuple};
use crate::contract::{FiveTuple, Rejected};
use rpkt::{
    Cursor,
    ether::{EtherPacket, EtherType},
    ipv4::{IpProtocol, Ipv4Packet},
    ipv6::{
        Ipv6Packet,
        extentions::{Ipv6FragPacket, Ipv6HbhOptPacket, Ipv6RoutingPacket},
    },
    tcp::TcpPacket,
    udp::UdpPacket,
};

#[inline(always)]
pub(crate) fn five_tuple(frame: &[u8]) -> Result<FiveTuple, Rejected> {
    let ethernet = EtherPacket::parse(Cursor::new(frame)).map_err(|_| Rejected)?;
    let payload = ethernet.cursor_payload().chunk_shared_lifetime();
    let (ethertype, packet) = by_hand::behind_tags(ethernet.ethertype().into(), payload)?;
    match ethertype.into() {
        EtherType::IPV4 => ipv4(Cursor::new(packet)),
        EtherType::IPV6 => ipv6(Cursor::new(packet)),
        _ => Err(Rejected),
    }
}

#[inline(always)]
fn ipv4(packet: Cursor<'_>) -> Result<FiveTuple, Rejected> {
    let ip = Ipv4Packet::parse(packet).map_err(|_| Rejected)?;
    if !ip.check_version() {
        return Err(Rejected);
    }
    let protocol = ip.protocol();
    let ports = if ip.frag_offset() == 0 { ports(protocol, ip.cursor_payload(), ip.more_frags())? } else { NO_PORTS };
    Ok(tuple(ip.source_ip().0, ip.dest_ip().0, protocol, ports))
}

#[inline(always)]
fn ipv6(packet: Cursor<'_>) -> Result<FiveTuple, Rejected> {
    let ip = Ipv6Packet::parse(packet).map_err(|_| Rejected)?;
    if !ip.check_version() {
        return Err(Rejected);
    }
    let (mut protocol, mut payload, mut more_fragments) = (ip.next_header(), ip.cursor_payload(), false);
    let ports = loop {
        match protocol {
            IpProtocol::HOPOPT | IpProtocol::IPV6_OPTS => {
                let options = Ipv6HbhOptPacket::parse(payload).map_err(|_| Rejected)?;
                protocol = options.next_header();
                payload = options.payload();
            }
            IpProtocol::IPV6_ROUTE => {
                let routing = Ipv6RoutingPacket::parse(payload).map_err(|_| Rejected)?;
                protocol = routing.next_header();
                payload = routing.payload();
            }
            IpProtocol::IPV6_FRAG => {
                let fragment = Ipv6FragPacket::parse(payload).map_err(|_| Rejected)?;
                protocol = fragment.next_header();
                if fragment.frag_off() != 0 {
                    break NO_PORTS;
                }
                more_fragments |= fragment.m_flag();
                payload = fragment.payload();
            }
            _ => break ports(protocol, payload, more_fragments)?,
        }
    };
    Ok(tuple(ip.source_ip().0, ip.dest_ip().0, protocol, ports))
}

#[inline(always)]
fn ports(protocol: IpProtocol, payload: Cursor<'_>, more_fragments: bool) -> Result<Ports, Rejected> {
    match protocol {
        IpProtocol::TCP => {
            let tcp = TcpPacket::parse(payload).map_err(|_| Rejected)?;
            Ok([tcp.src_port(), tcp.dst_port()])
        }
        IpProtocol::UDP if more_fragments => by_hand::udp_of_first_fragment(payload.chunk_shared_lifetime()),
        IpProtocol::UDP => {
            let udp = UdpPacket::parse(payload).map_err(|_| Rejected)?;
            Ok([udp.source_port(), udp.dest_port()])
        }
        _ => Ok(NO_PORTS),
    }
}
