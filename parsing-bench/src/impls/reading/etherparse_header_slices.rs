// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! etherparse's header slices: a checked view of each header, cut off the frame one by one.

use super::{NO_PORTS, TAGS, etherparse_transport::ports, tuple};
use crate::contract::{FiveTuple, Rejected};
use etherparse::{
    Ethernet2HeaderSlice, Ipv4HeaderSlice, Ipv6FragmentHeaderSlice, Ipv6HeaderSlice, Ipv6RawExtHeaderSlice,
    SingleVlanHeaderSlice, ether_type, ip_number,
};

#[inline(always)]
pub(crate) fn five_tuple(frame: &[u8]) -> Result<FiveTuple, Rejected> {
    let ethernet = Ethernet2HeaderSlice::from_slice(frame).map_err(|_| Rejected)?;
    let mut ethertype = ethernet.ether_type();
    let mut payload = frame.get(ethernet.slice().len()..).ok_or(Rejected)?;
    for _ in 0..TAGS {
        if ethertype != ether_type::VLAN_TAGGED_FRAME && ethertype != ether_type::PROVIDER_BRIDGING {
            break;
        }
        let tag = SingleVlanHeaderSlice::from_slice(payload).map_err(|_| Rejected)?;
        ethertype = tag.ether_type();
        payload = payload.get(tag.slice().len()..).ok_or(Rejected)?;
    }
    match ethertype {
        ether_type::IPV4 => ipv4(payload),
        ether_type::IPV6 => ipv6(payload),
        _ => Err(Rejected),
    }
}

#[inline(always)]
fn ipv4(packet: &[u8]) -> Result<FiveTuple, Rejected> {
    let ip = Ipv4HeaderSlice::from_slice(packet).map_err(|_| Rejected)?;
    let payload = packet.get(ip.slice().len()..usize::from(ip.total_len())).ok_or(Rejected)?;
    let is_first = ip.fragments_offset().value() == 0;
    let ports = if is_first { ports(ip.protocol(), payload, ip.more_fragments())? } else { NO_PORTS };
    Ok(tuple(ip.source(), ip.destination(), ip.protocol(), ports))
}

#[inline(always)]
fn ipv6(packet: &[u8]) -> Result<FiveTuple, Rejected> {
    let ip = Ipv6HeaderSlice::from_slice(packet).map_err(|_| Rejected)?;
    let rest = packet.get(ip.slice().len()..).ok_or(Rejected)?;
    let mut payload = rest.get(..usize::from(ip.payload_length())).ok_or(Rejected)?;
    let (mut protocol, mut more_fragments) = (ip.next_header(), false);
    let ports = loop {
        match protocol {
            ip_number::IPV6_HOP_BY_HOP | ip_number::IPV6_ROUTE | ip_number::IPV6_DEST_OPTIONS => {
                let header = Ipv6RawExtHeaderSlice::from_slice(payload).map_err(|_| Rejected)?;
                protocol = header.next_header();
                payload = payload.get(header.slice().len()..).ok_or(Rejected)?;
            }
            ip_number::IPV6_FRAG => {
                let header = Ipv6FragmentHeaderSlice::from_slice(payload).map_err(|_| Rejected)?;
                protocol = header.next_header();
                if header.fragment_offset().value() != 0 {
                    break NO_PORTS;
                }
                more_fragments |= header.more_fragments();
                payload = payload.get(header.slice().len()..).ok_or(Rejected)?;
            }
            _ => break ports(protocol, payload, more_fragments)?,
        }
    };
    Ok(tuple(ip.source(), ip.destination(), protocol, ports))
}
