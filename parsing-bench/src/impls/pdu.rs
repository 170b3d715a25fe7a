// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! pdu: a lazy parser that only reads. What it has found is written at fixed offsets.
//!
//! `Ipv4Pdu::new` does not compare the total length with what is there, and keeps the padding behind the packet: both
//! are the caller's. `computed_checksum` sums what it is given, so the datagram has to be cut to its length.
//! `inner()` would parse TCP and ICMP too, and fail where they are malformed, so UDP is parsed where it is looked for.

use super::{
    machine_order::AddressChange,
    offsets::{self, Checksums, UdpChecksum},
    reading,
};
use crate::contract::{About, FiveTuple, Library, Rejected, Rule, Way};
use pdu::{EtherType, Ethernet, EthernetPdu, Ip, IpProto, Ipv4Pdu, UdpPdu};

const UDP_HEADER_LEN: usize = 8;

/// pdu.
#[derive(Debug)]
pub struct Pdu;

impl Library for Pdu {
    const NAME: &'static str = "pdu";
    const WAY: Way = Way::Offsets;
    const ABOUT: About = About {
        package: "pdu",
        licence: "Apache-2.0",
        no_std: true,
        note: "reads only: writes are at offsets; the caller checks the total length, and reads the second tag",
    };

    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        ipv4(frame)?;
        offsets::write_addresses(frame, rule)
    }

    #[inline(always)]
    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let ip = ipv4(frame)?;
        let payload = payload(ip)?;
        let change = AddressChange::of(ip.destination_address(), rule.address);
        let mut checksums = Checksums { ip: change.update(ip.checksum()), udp: None };
        if ip.protocol() == IpProto::UDP && ip.fragment_offset() == 0 {
            let udp = UdpPdu::new(payload).map_err(|_| Rejected)?;
            let length = usize::from(udp.length());
            if length < UDP_HEADER_LEN || (!ip.more_fragments() && length > payload.len()) {
                return Err(Rejected);
            }
            checksums.udp = Some(UdpChecksum { behind: ip.computed_ihl(), value: change.update_udp(udp.checksum()) });
        }
        offsets::write(frame, rule, &checksums)
    }

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let ip = ipv4(frame)?;
        let packet = payload(ip)?;
        if ip.more_fragments() || ip.fragment_offset() != 0 {
            return Err(Rejected);
        }
        if ip.protocol() == IpProto::UDP {
            datagram(packet)?;
        }
        offsets::write_addresses(frame, rule)?;
        // What is computed comes from the frame as it now is.
        let ip = ipv4(frame)?;
        let mut checksums = Checksums { ip: ip.computed_checksum(), udp: None };
        if ip.protocol() == IpProto::UDP {
            let udp = datagram(payload(ip)?)?;
            let value = if udp.checksum() == 0 { 0 } else { udp.computed_checksum(&Ip::Ipv4(ip)) };
            checksums.udp = Some(UdpChecksum { behind: ip.computed_ihl(), value });
        }
        offsets::write_checksums(frame, &checksums)
    }

    #[inline(always)]
    fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
        reading::pdu::five_tuple(frame)
    }
}

#[inline(always)]
fn ipv4(frame: &[u8]) -> Result<Ipv4Pdu<'_>, Rejected> {
    let ethernet = EthernetPdu::new(frame).map_err(|_| Rejected)?;
    // `ethertype` is that behind a tag.
    if ethernet.tpid() != EtherType::IPV4 {
        return Err(Rejected);
    }
    match ethernet.into_inner() {
        Ok(Ethernet::Ipv4(ip)) => Ok(ip),
        _ => Err(Rejected),
    }
}

/// The payload of a packet without padding.
#[inline(always)]
fn payload(ip: Ipv4Pdu<'_>) -> Result<&[u8], Rejected> {
    ip.into_buffer().get(ip.computed_ihl()..usize::from(ip.total_length())).ok_or(Rejected)
}

/// The datagram in a packet's payload, without what is behind it.
#[inline(always)]
fn datagram(payload: &[u8]) -> Result<UdpPdu<'_>, Rejected> {
    let length = usize::from(UdpPdu::new(payload).map_err(|_| Rejected)?.length());
    UdpPdu::new(payload.get(..length).ok_or(Rejected)?).map_err(|_| Rejected)
}
