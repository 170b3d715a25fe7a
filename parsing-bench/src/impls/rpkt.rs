// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! rpkt: packets over a cursor that can move, made for buffers of several segments.
//!
//! `Ipv4Packet::parse` checks every length, but not the version, which is the caller's to check. A packet splits into
//! views of header and payload that can be written to at the same time; computing a checksum needs the packet whole.

use super::{machine_order::AddressChange, reading};
use crate::contract::{About, FiveTuple, Library, Rejected, Rule};
use rpkt::{
    Buf, Cursor, CursorMut,
    ether::{EtherHeader, EtherPacket, EtherType, MacAddr},
    ipv4::{IpProtocol, Ipv4Addr, Ipv4Packet},
    udp::{UDP_HEADER_LEN, UdpHeader, UdpPacket},
};

/// rpkt.
#[derive(Debug)]
pub struct Rpkt;

impl Library for Rpkt {
    const NAME: &'static str = "rpkt";
    const ABOUT: About = About {
        package: "rpkt",
        licence: "Apache-2.0",
        no_std: false,
        note: "the caller checks the version, and reads tags",
    };

    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (mut ethernet, packet) = ipv4_frame(frame)?;
        let mut ip = Ipv4Packet::parse(packet).map_err(|_| Rejected)?;
        ip.set_dest_ip(Ipv4Addr(rule.address));
        set_macs(&mut ethernet, rule);
        Ok(())
    }

    #[inline(always)]
    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (mut ethernet, packet) = ipv4_frame(frame)?;
        let (mut ip, _, payload) = ipv4_packet(packet)?.split();
        let change = AddressChange::of(ip.dest_ip().0, rule.address);
        if ip.protocol() == IpProtocol::UDP && ip.frag_offset() == 0 {
            let mut udp = if ip.more_frags() { first_fragment(payload) } else { datagram(payload) }?;
            udp.set_checksum(change.update_udp(udp.checksum()));
        }
        ip.set_checksum(change.update(ip.checksum()));
        ip.set_dest_ip(Ipv4Addr(rule.address));
        set_macs(&mut ethernet, rule);
        Ok(())
    }

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (mut ethernet, packet) = ipv4_frame(frame)?;
        let mut ip = ipv4_packet(packet)?;
        if ip.more_frags() || ip.frag_offset() != 0 {
            return Err(Rejected);
        }
        let udp = ip.protocol() == IpProtocol::UDP;
        if udp {
            let payload = &ip.buf().chunk()[usize::from(ip.header_len())..usize::from(ip.packet_len())];
            UdpPacket::parse(Cursor::new(payload)).map_err(|_| Rejected)?;
        }
        ip.set_dest_ip(Ipv4Addr(rule.address));
        ip.adjust_checksum();
        set_macs(&mut ethernet, rule);
        if udp {
            let source = ip.source_ip();
            let mut udp = UdpPacket::parse_unchecked(ip.payload());
            if udp.checksum() != 0 {
                udp.adjust_ipv4_checksum(source, Ipv4Addr(rule.address));
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
        reading::rpkt::five_tuple(frame)
    }
}

#[inline(always)]
fn ipv4_frame(frame: &mut [u8]) -> Result<(EtherHeader<&mut [u8]>, CursorMut<'_>), Rejected> {
    let frame = EtherPacket::parse(CursorMut::new(frame)).map_err(|_| Rejected)?;
    if frame.ethertype() == EtherType::IPV4 { Ok(frame.split()) } else { Err(Rejected) }
}

#[inline(always)]
fn ipv4_packet(packet: CursorMut<'_>) -> Result<Ipv4Packet<CursorMut<'_>>, Rejected> {
    let packet = Ipv4Packet::parse(packet).map_err(|_| Rejected)?;
    if packet.check_version() { Ok(packet) } else { Err(Rejected) }
}

#[inline(always)]
fn datagram(payload: CursorMut<'_>) -> Result<UdpHeader<&mut [u8]>, Rejected> {
    let (header, _) = UdpPacket::parse(payload).map_err(|_| Rejected)?.split();
    Ok(header)
}

/// The header of a datagram of which only the first fragment is there.
#[inline(always)]
fn first_fragment(payload: CursorMut<'_>) -> Result<UdpHeader<&mut [u8]>, Rejected> {
    let header = UdpHeader::new(payload.chunk_mut_shared_lifetime()).map_err(|_| Rejected)?;
    if usize::from(header.packet_len()) < UDP_HEADER_LEN { Err(Rejected) } else { Ok(header) }
}

#[inline(always)]
fn set_macs(ethernet: &mut EtherHeader<&mut [u8]>, rule: &Rule) {
    ethernet.set_dest_mac(MacAddr(rule.destination));
    ethernet.set_source_mac(MacAddr(rule.source));
}
