// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! pdu: a view of each header, an IPv6 packet with all its extension headers at once, and the first tag of a frame.
//!
//! `Ipv6Pdu::new` walks the extension headers through the whole buffer, even past the payload length, which the caller must
//! compare. It treats *no next header* (59) as an extension header: a packet that ends there is rejected if no bytes
//! follow, or if the following bytes do not look like headers.

use super::{NO_PORTS, Ports, SERVICE_TAG, TAG, TAGS, by_hand, tuple};
use crate::contract::{FiveTuple, Rejected};
use pdu::{EtherType, EthernetPdu, IpProto, Ipv4Pdu, Ipv6ExtensionHeader, Ipv6Pdu, TcpPdu, UdpPdu};

const NO_NEXT_HEADER: u8 = 59;
const FRAGMENT: u8 = 44;

#[inline(always)]
pub(crate) fn five_tuple(frame: &[u8]) -> Result<FiveTuple, Rejected> {
    let ethernet = EthernetPdu::new(frame).map_err(|_| Rejected)?;
    let mut ethertype = ethernet.ethertype();
    let mut payload = frame.get(ethernet.computed_ihl()..).ok_or(Rejected)?;
    for _ in usize::from(ethernet.vlan().is_some())..TAGS {
        if ethertype != TAG && ethertype != SERVICE_TAG {
            break;
        }
        (ethertype, payload) = by_hand::behind_tag(payload)?;
    }
    match ethertype {
        EtherType::IPV4 => ipv4(payload),
        EtherType::IPV6 => ipv6(payload),
        _ => Err(Rejected),
    }
}

#[inline(always)]
fn ipv4(packet: &[u8]) -> Result<FiveTuple, Rejected> {
    let ip = Ipv4Pdu::new(packet).map_err(|_| Rejected)?;
    let payload = packet.get(ip.computed_ihl()..usize::from(ip.total_length())).ok_or(Rejected)?;
    let protocol = ip.protocol();
    let ports = if ip.fragment_offset() == 0 { ports(protocol, payload, ip.more_fragments())? } else { NO_PORTS };
    Ok(tuple(ip.source_address(), ip.destination_address(), protocol, ports))
}

#[inline(always)]
fn ipv6(packet: &[u8]) -> Result<FiveTuple, Rejected> {
    let ip = Ipv6Pdu::new(packet).map_err(|_| Rejected)?;
    let end = 40 + usize::from(ip.payload_length());
    let payload = packet.get(ip.computed_ihl()..end).ok_or(Rejected)?;
    let (protocol, ports) = behind_extensions(&ip, payload)?;
    Ok(tuple(ip.source_address(), ip.destination_address(), protocol, ports))
}

#[inline(always)]
fn behind_extensions(ip: &Ipv6Pdu<'_>, payload: &[u8]) -> Result<(u8, Ports), Rejected> {
    let mut more = false;
    let mut extensions = ip.extension_headers();
    while let Some(extension) = extensions.next() {
        match extension {
            Ipv6ExtensionHeader::Raw { header: NO_NEXT_HEADER, .. } => return Ok((NO_NEXT_HEADER, NO_PORTS)),
            Ipv6ExtensionHeader::Fragment { offset, .. } if offset != 0 => {
                let protocol = match extensions.next() {
                    Some(Ipv6ExtensionHeader::Raw { header, .. }) => header,
                    Some(Ipv6ExtensionHeader::Fragment { .. }) => FRAGMENT,
                    None => ip.computed_protocol(),
                };
                return Ok((protocol, NO_PORTS));
            }
            Ipv6ExtensionHeader::Fragment { more_fragments, .. } => more |= more_fragments,
            Ipv6ExtensionHeader::Raw { .. } => {}
        }
    }
    let protocol = ip.computed_protocol();
    Ok((protocol, ports(protocol, payload, more)?))
}

#[inline(always)]
fn ports(protocol: u8, payload: &[u8], more_fragments: bool) -> Result<Ports, Rejected> {
    match protocol {
        IpProto::TCP => {
            let tcp = TcpPdu::new(payload).map_err(|_| Rejected)?;
            if tcp.data_offset() < 5 {
                return Err(Rejected);
            }
            Ok([tcp.source_port(), tcp.destination_port()])
        }
        IpProto::UDP => {
            let udp = UdpPdu::new(payload).map_err(|_| Rejected)?;
            let length = usize::from(udp.length());
            if length < 8 || (length > payload.len() && !more_fragments) {
                return Err(Rejected);
            }
            Ok([udp.source_port(), udp.destination_port()])
        }
        _ => Ok(NO_PORTS),
    }
}
