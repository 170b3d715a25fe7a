// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! network-types: structs without checks, and without IPv6 extension headers.
//!
//! wincode copies the headers of Ethernet and of a tag, which hold a `u16`, and casts the others, whatever address they
//! lie at.

use super::{NO_PORTS, Ports, TAGS, by_hand, tuple};
use crate::contract::{FiveTuple, Rejected};
use network_types::{
    eth::{EthHdr, EtherType},
    ip::{IpProto, Ipv4Hdr, Ipv6Hdr},
    tcp::TcpHdr,
    udp::UdpHdr,
    vlan::VlanHdr,
};
use wincode::ZeroCopy;

// In network order, as is the field.
const TAG: u16 = EtherType::Ieee8021q as u16;
const SERVICE_TAG: u16 = EtherType::Ieee8021ad as u16;
const IPV4: u16 = EtherType::Ipv4 as u16;
const IPV6: u16 = EtherType::Ipv6 as u16;
const MORE_FRAGMENTS: u8 = 1;
const TCP: u8 = IpProto::Tcp as u8;
const UDP: u8 = IpProto::Udp as u8;

#[inline(always)]
pub(crate) fn five_tuple(frame: &[u8]) -> Result<FiveTuple, Rejected> {
    let mut ethertype = wincode::deserialize::<EthHdr>(frame).map_err(|_| Rejected)?.ether_type;
    let mut payload = frame.get(EthHdr::LEN..).ok_or(Rejected)?;
    for _ in 0..TAGS {
        if ethertype != TAG && ethertype != SERVICE_TAG {
            break;
        }
        ethertype = wincode::deserialize::<VlanHdr>(payload).map_err(|_| Rejected)?.ether_type;
        payload = payload.get(VlanHdr::LEN..).ok_or(Rejected)?;
    }
    match ethertype {
        IPV4 => ipv4(payload),
        IPV6 => ipv6(payload),
        _ => Err(Rejected),
    }
}

#[inline(always)]
fn ipv4(packet: &[u8]) -> Result<FiveTuple, Rejected> {
    let ip = Ipv4Hdr::from_bytes(packet).map_err(|_| Rejected)?;
    let header = usize::from(ip.ihl());
    if ip.version() != 4 || header < Ipv4Hdr::LEN {
        return Err(Rejected);
    }
    let payload = packet.get(header..usize::from(ip.tot_len())).ok_or(Rejected)?;
    let more_fragments = ip.frag_flags() & MORE_FRAGMENTS != 0;
    let ports = if ip.frag_offset() == 0 { ports(ip.proto, payload, more_fragments)? } else { NO_PORTS };
    Ok(tuple(ip.src_addr(), ip.dst_addr(), ip.proto, ports))
}

#[inline(always)]
fn ipv6(packet: &[u8]) -> Result<FiveTuple, Rejected> {
    let ip = Ipv6Hdr::from_bytes(packet).map_err(|_| Rejected)?;
    let rest = packet.get(Ipv6Hdr::LEN..).ok_or(Rejected)?;
    if ip.version() != 6 {
        return Err(Rejected);
    }
    let payload = rest.get(..usize::from(ip.payload_len())).ok_or(Rejected)?;
    let upper = by_hand::behind_extensions(ip.next_hdr, payload)?;
    let ports =
        if upper.is_later_fragment { NO_PORTS } else { ports(upper.protocol, upper.payload, upper.more_fragments)? };
    Ok(tuple(ip.src_addr(), ip.dst_addr(), upper.protocol, ports))
}

#[inline(always)]
fn ports(protocol: u8, payload: &[u8], more_fragments: bool) -> Result<Ports, Rejected> {
    match protocol {
        TCP => {
            let tcp = TcpHdr::from_bytes(payload).map_err(|_| Rejected)?;
            let header = usize::from(tcp.doff()) * 4;
            if header < TcpHdr::LEN || header > payload.len() {
                return Err(Rejected);
            }
            Ok([u16::from_be_bytes(tcp.source), u16::from_be_bytes(tcp.dest)])
        }
        UDP => {
            let udp = UdpHdr::from_bytes(payload).map_err(|_| Rejected)?;
            let length = usize::from(udp.len());
            if length < UdpHdr::LEN || (length > payload.len() && !more_fragments) {
                return Err(Rejected);
            }
            Ok([udp.src_port(), udp.dst_port()])
        }
        _ => Ok(NO_PORTS),
    }
}
