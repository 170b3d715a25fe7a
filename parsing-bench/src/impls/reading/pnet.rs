// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! libpnet: a packet type for each header, tags and IPv6 extension headers included, which checks its own minimum length.
//!
//! The caller must check all other lengths. `FragmentPacket::get_fragment_offset` treats one of the reserved bits as a part
//! of the offset, so the field is masked by hand.

use super::{NO_PORTS, Ports, TAGS, tuple};
use crate::contract::{FiveTuple, Rejected};
use pnet_packet::{
    PacketSize,
    ethernet::{EtherTypes, EthernetPacket},
    ip::{IpNextHeaderProtocol, IpNextHeaderProtocols},
    ipv4::{Ipv4Flags, Ipv4Packet},
    ipv6::{ExtensionPacket, FragmentPacket, Ipv6Packet},
    tcp::TcpPacket,
    udp::UdpPacket,
    vlan::VlanPacket,
};

const FRAGMENT_OFFSET: u16 = 0xfff8;

#[inline(always)]
pub(crate) fn five_tuple(frame: &[u8]) -> Result<FiveTuple, Rejected> {
    let mut ethertype = EthernetPacket::new(frame).ok_or(Rejected)?.get_ethertype();
    let mut payload = frame.get(EthernetPacket::minimum_packet_size()..).ok_or(Rejected)?;
    for _ in 0..TAGS {
        if ethertype != EtherTypes::Vlan && ethertype != EtherTypes::PBridge {
            break;
        }
        ethertype = VlanPacket::new(payload).ok_or(Rejected)?.get_ethertype();
        payload = payload.get(VlanPacket::minimum_packet_size()..).ok_or(Rejected)?;
    }
    match ethertype {
        EtherTypes::Ipv4 => ipv4(payload),
        EtherTypes::Ipv6 => ipv6(payload),
        _ => Err(Rejected),
    }
}

#[inline(always)]
fn ipv4(packet: &[u8]) -> Result<FiveTuple, Rejected> {
    let ip = Ipv4Packet::new(packet).ok_or(Rejected)?;
    let header = usize::from(ip.get_header_length()) * 4;
    if ip.get_version() != 4 || header < Ipv4Packet::minimum_packet_size() {
        return Err(Rejected);
    }
    let payload = packet.get(header..usize::from(ip.get_total_length())).ok_or(Rejected)?;
    let protocol = ip.get_next_level_protocol();
    let more_fragments = ip.get_flags() & Ipv4Flags::MoreFragments != 0;
    let ports = if ip.get_fragment_offset() == 0 { ports(protocol, payload, more_fragments)? } else { NO_PORTS };
    Ok(tuple(ip.get_source(), ip.get_destination(), protocol.0, ports))
}

#[inline(always)]
fn ipv6(packet: &[u8]) -> Result<FiveTuple, Rejected> {
    let ip = Ipv6Packet::new(packet).ok_or(Rejected)?;
    let (_, payload) = packet.split_at_checked(Ipv6Packet::minimum_packet_size()).ok_or(Rejected)?;
    if ip.get_version() != 6 {
        return Err(Rejected);
    }
    let mut payload = payload.get(..usize::from(ip.get_payload_length())).ok_or(Rejected)?;
    let (mut protocol, mut more_fragments) = (ip.get_next_header(), false);
    let ports = loop {
        match protocol {
            IpNextHeaderProtocols::Hopopt | IpNextHeaderProtocols::Ipv6Route | IpNextHeaderProtocols::Ipv6Opts => {
                let header = ExtensionPacket::new(payload).ok_or(Rejected)?;
                protocol = header.get_next_header();
                payload = payload.get(header.packet_size()..).ok_or(Rejected)?;
            }
            IpNextHeaderProtocols::Ipv6Frag => {
                let header = FragmentPacket::new(payload).ok_or(Rejected)?;
                protocol = header.get_next_header();
                if header.get_fragment_offset_with_flags() & FRAGMENT_OFFSET != 0 {
                    break NO_PORTS;
                }
                more_fragments |= !header.is_last_fragment();
                payload = payload.get(FragmentPacket::minimum_packet_size()..).ok_or(Rejected)?;
            }
            _ => break ports(protocol, payload, more_fragments)?,
        }
    };
    Ok(tuple(ip.get_source(), ip.get_destination(), protocol.0, ports))
}

#[inline(always)]
fn ports(protocol: IpNextHeaderProtocol, payload: &[u8], more_fragments: bool) -> Result<Ports, Rejected> {
    match protocol {
        IpNextHeaderProtocols::Tcp => {
            let tcp = TcpPacket::new(payload).ok_or(Rejected)?;
            let header = usize::from(tcp.get_data_offset()) * 4;
            if header < TcpPacket::minimum_packet_size() || header > payload.len() {
                return Err(Rejected);
            }
            Ok([tcp.get_source(), tcp.get_destination()])
        }
        IpNextHeaderProtocols::Udp => {
            let udp = UdpPacket::new(payload).ok_or(Rejected)?;
            let length = usize::from(udp.get_length());
            if length < UdpPacket::minimum_packet_size() || (length > payload.len() && !more_fragments) {
                return Err(Rejected);
            }
            Ok([udp.get_source(), udp.get_destination()])
        }
        _ => Ok(NO_PORTS),
    }
}
