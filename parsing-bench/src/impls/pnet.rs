// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! libpnet's packets: views of a buffer with setters, which check that the fixed header is there and nothing else.
//!
//! Version, header length and total length are the caller's to check. `udp::ipv4_checksum` sums what it is given, so
//! that the datagram has to be cut to its length, and leaves a sum of 0 as it is, which the caller corrects.

use super::{
    machine_order::{AddressChange, never_zero},
    reading,
};
use crate::contract::{About, FiveTuple, Library, Rejected, Rule};
use pnet_packet::{
    MutablePacket, Packet,
    ethernet::{EtherTypes, MutableEthernetPacket},
    ip::IpNextHeaderProtocols,
    ipv4::{self, Ipv4Flags, MutableIpv4Packet},
    udp::{self, MutableUdpPacket},
};

/// pnet.
#[derive(Debug)]
pub struct Pnet;

impl Library for Pnet {
    const NAME: &'static str = "pnet";
    const ABOUT: About = About {
        package: "pnet_packet",
        licence: "MIT OR Apache-2.0",
        no_std: true,
        note: "the caller checks version and lengths, and sends a UDP checksum of 0 as 0xffff",
    };

    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let mut ethernet = ipv4_frame(frame)?;
        let mut ip = MutableIpv4Packet::new(ethernet.payload_mut()).ok_or(Rejected)?;
        ip.set_destination(rule.address.into());
        set_macs(&mut ethernet, rule);
        Ok(())
    }

    #[inline(always)]
    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let mut ethernet = ipv4_frame(frame)?;
        let mut ip = ipv4_packet(ethernet.payload_mut())?;
        let change = AddressChange::of(ip.get_destination().octets(), rule.address);
        if ip.get_next_level_protocol() == IpNextHeaderProtocols::Udp && ip.get_fragment_offset() == 0 {
            let fragmented = ip.get_flags() & Ipv4Flags::MoreFragments != 0;
            let mut udp = MutableUdpPacket::new(ip.payload_mut()).ok_or(Rejected)?;
            let length = usize::from(udp.get_length());
            if length < MutableUdpPacket::minimum_packet_size() || (!fragmented && length > udp.packet().len()) {
                return Err(Rejected);
            }
            udp.set_checksum(change.update_udp(udp.get_checksum()));
        }
        ip.set_checksum(change.update(ip.get_checksum()));
        ip.set_destination(rule.address.into());
        set_macs(&mut ethernet, rule);
        Ok(())
    }

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let mut ethernet = ipv4_frame(frame)?;
        let mut ip = ipv4_packet(ethernet.payload_mut())?;
        if ip.get_flags() & Ipv4Flags::MoreFragments != 0 || ip.get_fragment_offset() != 0 {
            return Err(Rejected);
        }
        if ip.get_next_level_protocol() == IpNextHeaderProtocols::Udp {
            let source = ip.get_source();
            let payload = ip.payload_mut();
            let length = usize::from(MutableUdpPacket::new(payload).ok_or(Rejected)?.get_length());
            let datagram = payload.get_mut(..length).ok_or(Rejected)?;
            let mut udp = MutableUdpPacket::new(datagram).ok_or(Rejected)?;
            if udp.get_checksum() != 0 {
                let checksum = udp::ipv4_checksum(&udp.to_immutable(), &source, &rule.address.into());
                udp.set_checksum(never_zero(checksum));
            }
        }
        ip.set_destination(rule.address.into());
        ip.set_checksum(ipv4::checksum(&ip.to_immutable()));
        set_macs(&mut ethernet, rule);
        Ok(())
    }

    #[inline(always)]
    fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
        reading::pnet::five_tuple(frame)
    }
}

#[inline(always)]
fn ipv4_frame(frame: &mut [u8]) -> Result<MutableEthernetPacket<'_>, Rejected> {
    let ethernet = MutableEthernetPacket::new(frame).ok_or(Rejected)?;
    if ethernet.get_ethertype() == EtherTypes::Ipv4 { Ok(ethernet) } else { Err(Rejected) }
}

#[inline(always)]
fn ipv4_packet(packet: &mut [u8]) -> Result<MutableIpv4Packet<'_>, Rejected> {
    let ip = MutableIpv4Packet::new(packet).ok_or(Rejected)?;
    let header = usize::from(ip.get_header_length()) * 4;
    let total = usize::from(ip.get_total_length());
    let whole = MutableIpv4Packet::minimum_packet_size() <= header && header <= total && total <= ip.packet().len();
    if ip.get_version() == 4 && whole { Ok(ip) } else { Err(Rejected) }
}

#[inline(always)]
fn set_macs(ethernet: &mut MutableEthernetPacket<'_>, rule: &Rule) {
    ethernet.set_destination(rule.destination.into());
    ethernet.set_source(rule.source.into());
}
