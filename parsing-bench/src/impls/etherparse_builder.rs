// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! etherparse's `PacketBuilder`: a new packet is built of the old one's headers and payload, and copied into the frame.
//!
//! The builder computes all checksums and lengths, so that it can do W3 only. A datagram without checksum, or one that
//! is shorter than the packet's payload, it cannot build, and is given as payload. The reserved flag of IPv4 would get
//! lost, so the caller rejects a frame that has it.

use super::etherparse_slices::has_reserved_flag;
use crate::contract::{About, Library, Rejected, Rule, Way, Workload};
use etherparse::{
    EtherType, Ethernet2Header, IpHeaders, IpNumber, Ipv4Extensions, Ipv4Header, PacketBuilder, UdpHeader,
};

/// etherparse: a packet built from scratch.
#[derive(Debug)]
pub struct EtherparseBuilder;

impl Library for EtherparseBuilder {
    const NAME: &'static str = "etherparse-builder";
    const WAY: Way = Way::Builds;
    const ABOUT: About = About {
        package: "etherparse",
        licence: "MIT OR Apache-2.0",
        no_std: true,
        note: "builds the packet anew in memory that it allocates; the caller checks IPv4's reserved flag",
    };
    const CANNOT: &'static [(Workload, &'static str)] = &[
        (Workload::W1, "the builder computes the checksums, which W1 leaves as they are"),
        (Workload::W2, "the builder computes the checksums anew: that is W3"),
        (Workload::W4, "the builder reads nothing"),
    ];

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let packet = build(frame, rule)?;
        // Padding stays.
        frame.get_mut(..packet.len()).ok_or(Rejected)?.copy_from_slice(&packet);
        Ok(())
    }
}

#[inline(always)]
fn build(frame: &[u8], rule: &Rule) -> Result<Vec<u8>, Rejected> {
    let (ethernet, packet) = Ethernet2Header::from_slice(frame).map_err(|_| Rejected)?;
    if ethernet.ether_type != EtherType::IPV4 {
        return Err(Rejected);
    }
    let (mut ip, rest) = Ipv4Header::from_slice(packet).map_err(|_| Rejected)?;
    let length = ip.payload_len().map_err(|_| Rejected)?;
    let payload = rest.get(..usize::from(length)).ok_or(Rejected)?;
    if ip.is_fragmenting_payload() || has_reserved_flag(frame) {
        return Err(Rejected);
    }
    ip.destination = rule.address;
    let protocol = ip.protocol;
    let udp = if protocol == IpNumber::UDP { Some(datagram(payload)?) } else { None };
    let builder = PacketBuilder::ethernet2(rule.source, rule.destination)
        .ip(IpHeaders::Ipv4(ip.clone(), Ipv4Extensions::default()));
    let mut built = Vec::with_capacity(builder.size(payload.len()));
    match udp {
        Some((udp, data)) if udp.checksum != 0 && usize::from(udp.length) == payload.len() => {
            builder.udp(udp.source_port, udp.destination_port).write_to_vec(&mut built, data)
        }
        Some((udp, data)) if udp.checksum != 0 => {
            builder.write_to_vec(&mut built, protocol, &with_checksum(udp, &ip, data, payload)?)
        }
        _ => builder.write_to_vec(&mut built, protocol, payload),
    }
    .map_err(|_| Rejected)?;
    Ok(built)
}

/// The header and the data of the datagram in a payload.
#[inline(always)]
fn datagram(payload: &[u8]) -> Result<(UdpHeader, &[u8]), Rejected> {
    let (udp, _) = UdpHeader::from_slice(payload).map_err(|_| Rejected)?;
    let data = payload.get(UdpHeader::LEN..usize::from(udp.length)).ok_or(Rejected)?;
    Ok((udp, data))
}

/// A payload that is longer than the datagram in it, with the datagram's checksum computed.
#[cold]
fn with_checksum(mut udp: UdpHeader, ip: &Ipv4Header, data: &[u8], payload: &[u8]) -> Result<Vec<u8>, Rejected> {
    udp.checksum = udp.calc_checksum_ipv4(ip, data).map_err(|_| Rejected)?;
    let mut payload = payload.to_vec();
    *payload.first_chunk_mut().ok_or(Rejected)? = udp.to_bytes();
    Ok(payload)
}
