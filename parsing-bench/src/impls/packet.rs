// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! packet: views of a buffer with setters that return results.
//!
//! What is wrong in version 0.1.4, and shows in the gate:
//! - `ip::v4::Packet::new` accepts a header length below 20 bytes, after which every setter indexes behind the header
//!   and panics (W1). Where the workload asks for that check, the caller makes it.
//! - `flags` unwraps what `from_bits` makes of the three bits, and knows More Fragments by the wrong one: it panics for
//!   every packet with that flag, and takes the reserved flag for it (W2, W3).
//! - `udp::checksum` reads words as long as there are two bytes, and so leaves out the last byte of an odd datagram;
//!   a sum of 0 it leaves as it is (W3).

use super::machine_order::{AddressChange, never_zero};
use crate::contract::{About, Library, Rejected, Rule, Workload};
use packet::{
    PacketMut,
    ether::{self, Protocol as EtherType},
    ip::{self, Protocol, v4::flag},
    udp,
};

const HEADER_LEN_MIN: u8 = 5;
const UDP_HEADER_LEN: u16 = 8;

/// packet.
#[derive(Debug)]
pub struct Packet;

impl Library for Packet {
    const NAME: &'static str = "packet";
    const ABOUT: About =
        About { package: "packet", licence: "WTFPL", no_std: false, note: "the caller checks the header length" };
    const CANNOT: &'static [(Workload, &'static str)] =
        &[(Workload::W4, "of an IPv6 packet it reads nothing but the version")];

    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let mut ethernet = ipv4_frame(frame)?;
        let mut ip = ip::v4::Packet::new(ethernet.payload_mut()).map_err(|_| Rejected)?;
        ip.set_destination(rule.address.into()).map_err(|_| Rejected)?;
        set_macs(&mut ethernet, rule)
    }

    #[inline(always)]
    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let mut ethernet = ipv4_frame(frame)?;
        let mut ip = ipv4_packet(ethernet.payload_mut())?;
        let change = AddressChange::of(ip.destination().octets(), rule.address);
        let checksum = change.update(ip.checksum());
        if ip.protocol() == Protocol::Udp && ip.offset() == 0 {
            let fragmented = ip.flags().contains(flag::MORE_FRAGMENTS);
            let payload = ip.payload_mut();
            let udp = if fragmented { udp::Packet::no_payload(payload) } else { udp::Packet::new(payload) };
            let mut udp = udp.map_err(|_| Rejected)?;
            if udp.length() < UDP_HEADER_LEN {
                return Err(Rejected);
            }
            udp.set_checksum(change.update_udp(udp.checksum())).map_err(|_| Rejected)?;
        }
        ip.set_checksum(checksum).map_err(|_| Rejected)?.set_destination(rule.address.into()).map_err(|_| Rejected)?;
        set_macs(&mut ethernet, rule)
    }

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let mut ethernet = ipv4_frame(frame)?;
        let mut ip = ipv4_packet(ethernet.payload_mut())?;
        if ip.flags().contains(flag::MORE_FRAGMENTS) || ip.offset() != 0 {
            return Err(Rejected);
        }
        let is_udp = ip.protocol() == Protocol::Udp;
        if is_udp && udp::Packet::new(ip.payload_mut()).map_err(|_| Rejected)?.length() < UDP_HEADER_LEN {
            return Err(Rejected);
        }
        ip.set_destination(rule.address.into()).map_err(|_| Rejected)?.update_checksum().map_err(|_| Rejected)?;
        if is_udp {
            let (header, payload) = ip.split_mut();
            let ip = ip::Packet::from(ip::v4::Packet::unchecked(header));
            update_datagram(&ip, payload)?;
        }
        set_macs(&mut ethernet, rule)
    }
}

type Frame<'a> = ether::Packet<&'a mut [u8]>;

#[inline(always)]
fn ipv4_frame(frame: &mut [u8]) -> Result<Frame<'_>, Rejected> {
    let ethernet = ether::Packet::new(frame).map_err(|_| Rejected)?;
    if ethernet.protocol() == EtherType::Ipv4 { Ok(ethernet) } else { Err(Rejected) }
}

#[inline(always)]
fn ipv4_packet(packet: &mut [u8]) -> Result<ip::v4::Packet<&mut [u8]>, Rejected> {
    let ip = ip::v4::Packet::new(packet).map_err(|_| Rejected)?;
    let whole = ip.header() >= HEADER_LEN_MIN && u16::from(ip.header()) * 4 <= ip.length();
    if whole { Ok(ip) } else { Err(Rejected) }
}

/// Computes the checksum of the datagram in a packet's payload, if it has one.
#[inline(always)]
fn update_datagram(ip: &ip::Packet<&mut [u8]>, payload: &mut [u8]) -> Result<(), Rejected> {
    let length = udp::Packet::new(&*payload).map_err(|_| Rejected)?.length();
    // The checksum is that of the whole buffer.
    let datagram = payload.get_mut(..usize::from(length)).ok_or(Rejected)?;
    let mut udp = udp::Packet::new(datagram).map_err(|_| Rejected)?;
    if udp.checksum() != 0 {
        udp.update_checksum(ip).map_err(|_| Rejected)?;
        udp.set_checksum(never_zero(udp.checksum())).map_err(|_| Rejected)?;
    }
    Ok(())
}

#[inline(always)]
fn set_macs(ethernet: &mut Frame<'_>, rule: &Rule) -> Result<(), Rejected> {
    ethernet.set_destination(rule.destination.into()).map_err(|_| Rejected)?;
    ethernet.set_source(rule.source.into()).map_err(|_| Rejected)?;
    Ok(())
}
