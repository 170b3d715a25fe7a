// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! smoltcp, whose `wire` has a view of each header, but no tags.
//!
//! `Ipv6ExtHeader` takes the reserved byte of a fragment header for its length, so that one is cut out by hand, and
//! `UdpPacket::new_checked` wants the whole datagram, which a first fragment does not hold.

use super::{NO_PORTS, Ports, by_hand, tuple};
use crate::contract::{FiveTuple, Rejected};
use smoltcp::wire::{
    EthernetFrame, EthernetProtocol, IpProtocol, Ipv4Packet, Ipv6ExtHeader, Ipv6FragmentHeader, Ipv6Packet, TcpPacket,
    UdpPacket,
};

#[inline(always)]
pub(crate) fn five_tuple(frame: &[u8]) -> Result<FiveTuple, Rejected> {
    let frame = EthernetFrame::new_checked(frame).map_err(|_| Rejected)?;
    let (ethertype, packet) = by_hand::behind_tags(frame.ethertype().into(), frame.payload())?;
    match ethertype.into() {
        EthernetProtocol::Ipv4 => ipv4(packet),
        EthernetProtocol::Ipv6 => ipv6(packet),
        _ => Err(Rejected),
    }
}

#[inline(always)]
fn ipv4(packet: &[u8]) -> Result<FiveTuple, Rejected> {
    let ip = Ipv4Packet::new_checked(packet).map_err(|_| Rejected)?;
    if ip.version() != 4 {
        return Err(Rejected);
    }
    let protocol = ip.next_header();
    let ports = if ip.frag_offset() == 0 { ports(protocol, ip.payload(), ip.more_frags())? } else { NO_PORTS };
    Ok(tuple(ip.src_addr(), ip.dst_addr(), protocol, ports))
}

#[inline(always)]
fn ipv6(packet: &[u8]) -> Result<FiveTuple, Rejected> {
    let ip = Ipv6Packet::new_checked(packet).map_err(|_| Rejected)?;
    if ip.version() != 6 {
        return Err(Rejected);
    }
    let (mut protocol, mut payload, mut more) = (ip.next_header(), ip.payload(), false);
    let ports = loop {
        match protocol {
            IpProtocol::HopByHop | IpProtocol::Ipv6Route | IpProtocol::Ipv6Opts => {
                let header = Ipv6ExtHeader::new_checked(payload).map_err(|_| Rejected)?;
                protocol = header.next_header();
                payload = payload.get((usize::from(header.header_len()) + 1) * 8..).ok_or(Rejected)?;
            }
            IpProtocol::Ipv6Frag => {
                let (header, rest) = payload.split_at_checked(8).ok_or(Rejected)?;
                protocol = Ipv6ExtHeader::new_unchecked(header).next_header();
                let fragment = header.get(2..).map(Ipv6FragmentHeader::new_unchecked).ok_or(Rejected)?;
                if fragment.frag_offset() != 0 {
                    break NO_PORTS;
                }
                more |= fragment.more_frags();
                payload = rest;
            }
            _ => break ports(protocol, payload, more)?,
        }
    };
    Ok(tuple(ip.src_addr(), ip.dst_addr(), protocol, ports))
}

#[inline(always)]
fn ports(protocol: IpProtocol, payload: &[u8], more_fragments: bool) -> Result<Ports, Rejected> {
    match protocol {
        IpProtocol::Tcp => {
            let tcp = TcpPacket::new_checked(payload).map_err(|_| Rejected)?;
            Ok([tcp.src_port(), tcp.dst_port()])
        }
        IpProtocol::Udp if more_fragments => by_hand::udp_of_first_fragment(payload),
        IpProtocol::Udp => {
            let udp = UdpPacket::new_checked(payload).map_err(|_| Rejected)?;
            Ok([udp.src_port(), udp.dst_port()])
        }
        _ => Ok(NO_PORTS),
    }
}
