// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! smoltcp's `wire`: views of a buffer with setters.
//!
//! `Ipv4Packet::new_checked` checks every length, but not the version, which is the caller's to check.
//! `UdpPacket::new_checked` wants the whole datagram, which a first fragment does not hold.

use super::{machine_order::AddressChange, reading};
use crate::contract::{About, FiveTuple, Library, Rejected, Rule};
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, IpProtocol, Ipv4Address, Ipv4Packet, UDP_HEADER_LEN, UdpPacket,
};

/// smoltcp.
#[derive(Debug)]
pub struct Smoltcp;

type Frame<'a> = EthernetFrame<&'a mut [u8]>;

impl Library for Smoltcp {
    const NAME: &'static str = "smoltcp";
    const ABOUT: About = About {
        package: "smoltcp",
        licence: "0BSD",
        no_std: true,
        note: "the caller checks the version, and reads tags, and a UDP header whose datagram is cut into fragments",
    };

    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let mut frame = ipv4_frame(frame)?;
        let mut ip = Ipv4Packet::new_checked(frame.payload_mut()).map_err(|_| Rejected)?;
        ip.set_dst_addr(rule.address.into());
        set_macs(&mut frame, rule);
        Ok(())
    }

    #[inline(always)]
    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let mut frame = ipv4_frame(frame)?;
        let mut ip = ipv4_packet(frame.payload_mut())?;
        let change = AddressChange::of(ip.dst_addr().octets(), rule.address);
        if ip.next_header() == IpProtocol::Udp && ip.frag_offset() == 0 {
            let mut udp = if ip.more_frags() { first_fragment(ip.payload_mut()) } else { datagram(ip.payload_mut()) }?;
            udp.set_checksum(change.update_udp(udp.checksum()));
        }
        ip.set_checksum(change.update(ip.checksum()));
        ip.set_dst_addr(rule.address.into());
        set_macs(&mut frame, rule);
        Ok(())
    }

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let mut frame = ipv4_frame(frame)?;
        let mut ip = ipv4_packet(frame.payload_mut())?;
        if ip.more_frags() || ip.frag_offset() != 0 {
            return Err(Rejected);
        }
        if ip.next_header() == IpProtocol::Udp {
            let (source, destination) = (ip.src_addr().into(), Ipv4Address::from(rule.address).into());
            let mut udp = datagram(ip.payload_mut())?;
            if udp.checksum() != 0 {
                udp.fill_checksum(&source, &destination);
            }
        }
        ip.set_dst_addr(rule.address.into());
        ip.fill_checksum();
        set_macs(&mut frame, rule);
        Ok(())
    }

    #[inline(always)]
    fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
        reading::smoltcp::five_tuple(frame)
    }
}

#[inline(always)]
fn ipv4_frame(frame: &mut [u8]) -> Result<Frame<'_>, Rejected> {
    let frame = EthernetFrame::new_checked(frame).map_err(|_| Rejected)?;
    if frame.ethertype() == EthernetProtocol::Ipv4 { Ok(frame) } else { Err(Rejected) }
}

#[inline(always)]
fn ipv4_packet(packet: &mut [u8]) -> Result<Ipv4Packet<&mut [u8]>, Rejected> {
    let packet = Ipv4Packet::new_checked(packet).map_err(|_| Rejected)?;
    if packet.version() == 4 { Ok(packet) } else { Err(Rejected) }
}

#[inline(always)]
fn datagram(payload: &mut [u8]) -> Result<UdpPacket<&mut [u8]>, Rejected> {
    UdpPacket::new_checked(payload).map_err(|_| Rejected)
}

/// The header of a datagram of which only the first fragment is there.
#[inline(always)]
fn first_fragment(payload: &mut [u8]) -> Result<UdpPacket<&mut [u8]>, Rejected> {
    if payload.len() < UDP_HEADER_LEN {
        return Err(Rejected);
    }
    let udp = UdpPacket::new_unchecked(payload);
    if usize::from(udp.len()) < UDP_HEADER_LEN { Err(Rejected) } else { Ok(udp) }
}

#[inline(always)]
fn set_macs(frame: &mut Frame<'_>, rule: &Rule) {
    frame.set_dst_addr(EthernetAddress(rule.destination));
    frame.set_src_addr(EthernetAddress(rule.source));
}
