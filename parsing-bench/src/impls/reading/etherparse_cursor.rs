// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! etherparse's headers read one by one from an `io::Cursor`.
//!
//! `IpHeaders::read` accepts either version, whatever the ethertype, and reads only headers: the caller must check whether
//! their lengths fit the frame. It has room for one IPv6 extension header of each kind, like
//! [`etherparse_slices`](super::etherparse_slices).

use super::{NO_PORTS, Ports, TAGS, by_hand, etherparse_transport::is_extension, tuple};
use crate::contract::{FiveTuple, Rejected};
use etherparse::{
    Ethernet2Header, IpHeaders, IpNumber, Ipv4Header, Ipv6Extensions, Ipv6Header, SingleVlanHeader, TcpHeader,
    UdpHeader, ether_type, ip_number,
};
use std::io::Cursor;

#[inline(always)]
pub(crate) fn five_tuple(frame: &[u8]) -> Result<FiveTuple, Rejected> {
    let mut cursor = Cursor::new(frame);
    let mut ethertype = Ethernet2Header::read(&mut cursor).map_err(|_| Rejected)?.ether_type;
    for _ in 0..TAGS {
        if ethertype != ether_type::VLAN_TAGGED_FRAME && ethertype != ether_type::PROVIDER_BRIDGING {
            break;
        }
        ethertype = SingleVlanHeader::read(&mut cursor).map_err(|_| Rejected)?.ether_type;
    }
    if ethertype != ether_type::IPV4 && ethertype != ether_type::IPV6 {
        return Err(Rejected);
    }
    let packet = behind(frame, &cursor)?;
    let mut cursor = Cursor::new(packet);
    let (headers, next) = IpHeaders::read(&mut cursor).map_err(|_| Rejected)?;
    let start = packet.len() - behind(packet, &cursor)?.len();
    match headers {
        IpHeaders::Ipv4(ip, _) if ethertype == ether_type::IPV4 => {
            let payload = packet.get(start..usize::from(ip.total_len)).ok_or(Rejected)?;
            ipv4(&ip, payload)
        }
        IpHeaders::Ipv6(ip, extensions) if ethertype == ether_type::IPV6 => {
            let end = Ipv6Header::LEN + usize::from(ip.payload_length);
            let payload = packet.get(start..end).ok_or(Rejected)?;
            ipv6(&ip, &extensions, next, payload)
        }
        _ => Err(Rejected),
    }
}

/// The bytes after the cursor.
#[inline(always)]
fn behind<'a>(bytes: &'a [u8], cursor: &Cursor<&[u8]>) -> Result<&'a [u8], Rejected> {
    let position = usize::try_from(cursor.position()).map_err(|_| Rejected)?;
    bytes.get(position..).ok_or(Rejected)
}

#[inline(always)]
fn ipv4(ip: &Ipv4Header, payload: &[u8]) -> Result<FiveTuple, Rejected> {
    // Behind AH, `payload` is what AH protects.
    let has_ports = ip.fragment_offset.value() == 0 && ip.protocol != ip_number::AUTH;
    let ports = if has_ports { ports(ip.protocol, payload, ip.more_fragments)? } else { NO_PORTS };
    Ok(tuple(ip.source, ip.destination, ip.protocol, ports))
}

#[inline(always)]
fn ipv6(ip: &Ipv6Header, extensions: &Ipv6Extensions, next: IpNumber, payload: &[u8]) -> Result<FiveTuple, Rejected> {
    let (protocol, ports) = match &extensions.fragment {
        _ if extensions.auth.is_some() => return Err(Rejected),
        Some(fragment) if fragment.fragment_offset.value() != 0 => (fragment.next_header, NO_PORTS),
        _ if is_extension(next) => return Err(Rejected),
        Some(fragment) => (next, ports(next, payload, fragment.more_fragments)?),
        None => (next, ports(next, payload, false)?),
    };
    Ok(tuple(ip.source, ip.destination, protocol, ports))
}

#[inline(always)]
fn ports(protocol: IpNumber, payload: &[u8], more_fragments: bool) -> Result<Ports, Rejected> {
    match protocol {
        ip_number::TCP => {
            let tcp = TcpHeader::read(&mut Cursor::new(payload)).map_err(|_| Rejected)?;
            Ok([tcp.source_port, tcp.destination_port])
        }
        ip_number::UDP if more_fragments => by_hand::udp_of_first_fragment(payload),
        ip_number::UDP => {
            let udp = UdpHeader::read(&mut Cursor::new(payload)).map_err(|_| Rejected)?;
            if !(8..=payload.len()).contains(&usize::from(udp.length)) {
                return Err(Rejected);
            }
            Ok([udp.source_port, udp.destination_port])
        }
        _ => Ok(NO_PORTS),
    }
}
