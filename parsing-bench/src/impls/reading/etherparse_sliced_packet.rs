// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! etherparse's `SlicedPacket`: one call that slices the whole frame, and returns the headers found.
//!
//! The result must still be compared with the rules. The library reads past three tags and MACsec, interprets a UDP length
//! of 0 and an IPv6 payload length of 0 as *all that follows*, and stops at fragments, including the first one. The bytes
//! that AH protects count as payload. It continues with extension headers after the header of a later fragment.

use super::{
    NO_PORTS, Ports, TAGS,
    etherparse_transport::{self, ipv4, ipv6},
};
use crate::contract::{FiveTuple, Rejected};
use etherparse::{IpPayloadSlice, LinkExtSlice, NetSlice, SlicedPacket, TransportSlice};

#[inline(always)]
pub(crate) fn five_tuple(frame: &[u8]) -> Result<FiveTuple, Rejected> {
    let packet = SlicedPacket::from_ethernet(frame).map_err(|_| Rejected)?;
    let is_tag = |extension| matches!(extension, &LinkExtSlice::Vlan(_));
    if packet.link_exts.len() > TAGS || !packet.link_exts.iter().all(is_tag) {
        return Err(Rejected);
    }
    let transport = packet.transport.as_ref();
    match &packet.net {
        Some(NetSlice::Ipv4(ip)) => ipv4(&ip.header(), || ports(ip.payload(), transport)),
        Some(NetSlice::Ipv6(ip)) => {
            ipv6(&ip.header(), ip.extensions(), ip.payload().ip_number, || ports(ip.payload(), transport))
        }
        _ => Err(Rejected),
    }
}

#[inline(always)]
fn ports(payload: &IpPayloadSlice<'_>, transport: Option<&TransportSlice<'_>>) -> Result<Ports, Rejected> {
    match transport {
        Some(TransportSlice::Tcp(tcp)) => Ok([tcp.source_port(), tcp.destination_port()]),
        Some(TransportSlice::Udp(udp)) if udp.length() == 0 => Err(Rejected),
        Some(TransportSlice::Udp(udp)) => Ok([udp.source_port(), udp.destination_port()]),
        None if payload.fragmented => etherparse_transport::ports(payload.ip_number, payload.payload, true),
        _ => Ok(NO_PORTS),
    }
}
