// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The translation of one frame, as a function of bytes: it can be tested without an EAL.
#![forbid(unsafe_code)]

use smoltcp::wire::{
    ArpPacket, ArpRepr, EthernetFrame, EthernetProtocol, Icmpv4Message, Icmpv4Packet, IpProtocol, Ipv4Packet,
    TcpPacket, UdpPacket,
};
use std::net::Ipv4Addr;

/// An address with a port, or with the identifier of an ICMP echo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) address: Ipv4Addr,
    pub(crate) port: u16,
}

/// The fields of a frame that the gateway needs.
pub(crate) enum Seen {
    Arp(ArpRepr),
    Ipv4 { protocol: u8, source: Endpoint, destination: Endpoint },
}

/// The end of a frame that is translated.
#[derive(Clone, Copy)]
pub(crate) enum End {
    Source,
    Destination,
}

/// Parses a frame; `None` for frames that a NAT of TCP, UDP and ICMP echoes does not handle. These include fragments,
/// which have no ports.
pub(crate) fn look(frame: &[u8]) -> Option<Seen> {
    let frame = EthernetFrame::new_checked(frame).ok()?;
    match frame.ethertype() {
        EthernetProtocol::Arp => ArpRepr::parse(&ArpPacket::new_checked(frame.payload()).ok()?).ok().map(Seen::Arp),
        EthernetProtocol::Ipv4 => {
            let packet = Ipv4Packet::new_checked(frame.payload()).ok()?;
            if packet.version() != 4 || packet.more_frags() || packet.frag_offset() != 0 {
                return None;
            }
            let (source, destination) = match packet.next_header() {
                IpProtocol::Tcp => {
                    TcpPacket::new_checked(packet.payload()).ok().map(|tcp| (tcp.src_port(), tcp.dst_port()))?
                }
                IpProtocol::Udp => {
                    UdpPacket::new_checked(packet.payload()).ok().map(|udp| (udp.src_port(), udp.dst_port()))?
                }
                IpProtocol::Icmp => {
                    let icmp = Icmpv4Packet::new_checked(packet.payload()).ok()?;
                    let is_echo = matches!(icmp.msg_type(), Icmpv4Message::EchoRequest | Icmpv4Message::EchoReply);
                    is_echo.then(|| (icmp.echo_ident(), icmp.echo_ident()))?
                }
                _ => return None,
            };
            Some(Seen::Ipv4 {
                protocol: packet.next_header().into(),
                source: Endpoint { address: packet.src_addr(), port: source },
                destination: Endpoint { address: packet.dst_addr(), port: destination },
            })
        }
        _ => None,
    }
}

/// Replaces one end by `to` and decrements the TTL. Checksums are adjusted rather than computed, so that an earlier
/// damage stays visible. `None` if the frame must not be sent on.
pub(crate) fn translate(frame: &mut [u8], end: End, to: Endpoint) -> Option<()> {
    let mut frame = EthernetFrame::new_checked(frame).ok()?;
    let mut packet = Ipv4Packet::new_checked(frame.payload_mut()).ok()?;
    let hops = packet.hop_limit().checked_sub(1).filter(|&hops| hops > 0)?;
    let from = match end {
        End::Source => packet.src_addr(),
        End::Destination => packet.dst_addr(),
    };
    let (from, into) = (halves(from), halves(to.address));
    let address = [(from[0], into[0]), (from[1], into[1])];
    let word = |hops: u8, protocol: IpProtocol| u16::from_be_bytes([hops, protocol.into()]);
    let hop = (word(packet.hop_limit(), packet.next_header()), word(hops, packet.next_header()));
    packet.set_checksum(adjusted(packet.checksum(), &[address[0], address[1], hop]));
    packet.set_hop_limit(hops);
    match end {
        End::Source => packet.set_src_addr(to.address),
        End::Destination => packet.set_dst_addr(to.address),
    }
    match packet.next_header() {
        IpProtocol::Tcp => {
            let mut tcp = TcpPacket::new_checked(packet.payload_mut()).ok()?;
            let port = if matches!(end, End::Source) { tcp.src_port() } else { tcp.dst_port() };
            tcp.set_checksum(adjusted(tcp.checksum(), &[address[0], address[1], (port, to.port)]));
            if matches!(end, End::Source) { tcp.set_src_port(to.port) } else { tcp.set_dst_port(to.port) }
        }
        IpProtocol::Udp => {
            let mut udp = UdpPacket::new_checked(packet.payload_mut()).ok()?;
            let port = if matches!(end, End::Source) { udp.src_port() } else { udp.dst_port() };
            if udp.checksum() != 0 {
                // 0 would mean that there is no checksum.
                let checksum = adjusted(udp.checksum(), &[address[0], address[1], (port, to.port)]);
                udp.set_checksum(if checksum == 0 { 0xffff } else { checksum });
            }
            if matches!(end, End::Source) { udp.set_src_port(to.port) } else { udp.set_dst_port(to.port) }
        }
        _ => {
            let mut icmp = Icmpv4Packet::new_checked(packet.payload_mut()).ok()?;
            let ident = icmp.echo_ident();
            icmp.set_checksum(adjusted(icmp.checksum(), &[(ident, to.port)]));
            icmp.set_echo_ident(to.port);
        }
    }
    Some(())
}

fn halves(address: Ipv4Addr) -> [u16; 2] {
    let [a, b, c, d] = address.octets();
    [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])]
}

/// An Internet checksum after some words were changed, given as (before, after): RFC 1624, equation 3.
fn adjusted(checksum: u16, changes: &[(u16, u16)]) -> u16 {
    let sum = changes.iter().fold(u32::from(!checksum), |sum, &(old, new)| sum + u32::from(!old) + u32::from(new));
    let sum = (sum & 0xffff) + (sum >> 16);
    !(((sum & 0xffff) + (sum >> 16)) as u16)
}
