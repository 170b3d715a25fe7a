// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! etherparse's `LaxSlicedPacket`: like `SlicedPacket`, also for truncated frames.
//!
//! It accepts every frame that it can partly read, so its user must check three things: whether a length comes from the
//! frame instead of the header, whether it stopped at an error, and whether the packet has the version of its ethertype.

use super::{
    NO_PORTS, Ports, TAGS,
    etherparse_transport::{self, ipv4, ipv6},
};
use crate::contract::{FiveTuple, Rejected};
use etherparse::{
    EtherType, LaxIpPayloadSlice, LaxLinkExtSlice, LaxNetSlice, LaxSlicedPacket, LenSource, LinkSlice, TransportSlice,
    ether_type,
};

#[inline(always)]
pub(crate) fn five_tuple(frame: &[u8]) -> Result<FiveTuple, Rejected> {
    let packet = LaxSlicedPacket::from_ethernet(frame).map_err(|_| Rejected)?;
    if packet.stop_err.is_some() || packet.link_exts.len() > TAGS {
        return Err(Rejected);
    }
    let transport = packet.transport.as_ref();
    match (&packet.net, ethertype(&packet)) {
        (Some(LaxNetSlice::Ipv4(ip)), Some(ether_type::IPV4)) if ip.payload().len_source != LenSource::Slice => {
            ipv4(&ip.header(), || ports(ip.payload(), transport))
        }
        (Some(LaxNetSlice::Ipv6(ip)), Some(ether_type::IPV6)) if !ip.payload().incomplete => {
            ipv6(&ip.header(), ip.extensions(), ip.payload().ip_number, || ports(ip.payload(), transport))
        }
        _ => Err(Rejected),
    }
}

/// What the last tag says, or the Ethernet header of a frame without tags.
#[inline(always)]
fn ethertype(packet: &LaxSlicedPacket<'_>) -> Option<EtherType> {
    let mut ethertype = match &packet.link {
        Some(LinkSlice::Ethernet2(ethernet)) => ethernet.ether_type(),
        _ => return None,
    };
    for extension in &packet.link_exts {
        match extension {
            LaxLinkExtSlice::Vlan(tag) => ethertype = tag.ether_type(),
            LaxLinkExtSlice::Macsec(_) => return None,
        }
    }
    Some(ethertype)
}

#[inline(always)]
fn ports(payload: &LaxIpPayloadSlice<'_>, transport: Option<&TransportSlice<'_>>) -> Result<Ports, Rejected> {
    match transport {
        Some(TransportSlice::Tcp(tcp)) => Ok([tcp.source_port(), tcp.destination_port()]),
        Some(TransportSlice::Udp(udp)) if udp.payload_len_source() == LenSource::Slice => Err(Rejected),
        Some(TransportSlice::Udp(udp)) => Ok([udp.source_port(), udp.destination_port()]),
        None if payload.fragmented => etherparse_transport::ports(payload.ip_number, payload.payload, true),
        _ => Ok(NO_PORTS),
    }
}
