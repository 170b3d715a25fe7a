// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! zerocopy: the headers declared by its user, each cut off the front of what is left.

use super::{NO_PORTS, Ports, SERVICE_TAG, TAG, TAGS, tuple};
use crate::contract::{FiveTuple, Rejected};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned, network_endian::U16};

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

const HOP_BY_HOP: u8 = 0;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Ethernet {
    addresses: [[u8; 6]; 2],
    ethertype: U16,
}

#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Tag {
    control: U16,
    ethertype: U16,
}

#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Ipv4 {
    version_and_header_length: u8,
    type_of_service: u8,
    total_length: U16,
    identification: U16,
    fragment: U16,
    time_to_live: u8,
    protocol: u8,
    checksum: U16,
    source: [u8; 4],
    destination: [u8; 4],
}

#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Ipv6 {
    version: u8,
    class_and_flow: [u8; 3],
    payload_length: U16,
    next_header: u8,
    hop_limit: u8,
    source: [u8; 16],
    destination: [u8; 16],
}

#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Extension {
    next_header: u8,
    length: u8,
    start: [u8; 6],
}

#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Fragment {
    next_header: u8,
    reserved: u8,
    offset: U16,
    identification: [u8; 4],
}

#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Tcp {
    ports: [U16; 2],
    sequence: [u8; 4],
    acknowledgement: [u8; 4],
    data_offset: u8,
    flags: u8,
    window: U16,
    checksum: U16,
    urgent: U16,
}

#[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Udp {
    ports: [U16; 2],
    length: U16,
    checksum: U16,
}

#[inline(always)]
pub(crate) fn five_tuple(frame: &[u8]) -> Result<FiveTuple, Rejected> {
    let (ethernet, mut payload) = Ethernet::ref_from_prefix(frame).map_err(|_| Rejected)?;
    let mut ethertype = ethernet.ethertype.get();
    for _ in 0..TAGS {
        if ethertype != TAG && ethertype != SERVICE_TAG {
            break;
        }
        let (tag, rest) = Tag::ref_from_prefix(payload).map_err(|_| Rejected)?;
        (ethertype, payload) = (tag.ethertype.get(), rest);
    }
    match ethertype {
        IPV4 => ipv4(payload),
        IPV6 => ipv6(payload),
        _ => Err(Rejected),
    }
}

#[inline(always)]
fn ipv4(packet: &[u8]) -> Result<FiveTuple, Rejected> {
    let (ip, _) = Ipv4::ref_from_prefix(packet).map_err(|_| Rejected)?;
    if !(0x45..=0x4f).contains(&ip.version_and_header_length) {
        return Err(Rejected);
    }
    let header = usize::from(ip.version_and_header_length & 0xf) * 4;
    let payload = packet.get(header..usize::from(ip.total_length)).ok_or(Rejected)?;
    let fragment = ip.fragment.get();
    let ports = if fragment & 0x1fff == 0 { ports(ip.protocol, payload, fragment & 0x2000 != 0)? } else { NO_PORTS };
    Ok(tuple(ip.source, ip.destination, ip.protocol, ports))
}

#[inline(always)]
fn ipv6(packet: &[u8]) -> Result<FiveTuple, Rejected> {
    let (ip, rest) = Ipv6::ref_from_prefix(packet).map_err(|_| Rejected)?;
    if ip.version >> 4 != 6 {
        return Err(Rejected);
    }
    let mut payload = rest.get(..usize::from(ip.payload_length)).ok_or(Rejected)?;
    let (mut protocol, mut more_fragments) = (ip.next_header, false);
    let ports = loop {
        match protocol {
            HOP_BY_HOP | ROUTING | DESTINATION_OPTIONS => {
                let (header, _) = Extension::ref_from_prefix(payload).map_err(|_| Rejected)?;
                protocol = header.next_header;
                payload = payload.get((usize::from(header.length) + 1) * 8..).ok_or(Rejected)?;
            }
            FRAGMENT => {
                let (header, rest) = Fragment::ref_from_prefix(payload).map_err(|_| Rejected)?;
                protocol = header.next_header;
                if header.offset.get() & 0xfff8 != 0 {
                    break NO_PORTS;
                }
                more_fragments |= header.offset.get() & 1 != 0;
                payload = rest;
            }
            _ => break ports(protocol, payload, more_fragments)?,
        }
    };
    Ok(tuple(ip.source, ip.destination, protocol, ports))
}

#[inline(always)]
fn ports(protocol: u8, payload: &[u8], more_fragments: bool) -> Result<Ports, Rejected> {
    let [source, destination] = match protocol {
        TCP => {
            let (tcp, _) = Tcp::ref_from_prefix(payload).map_err(|_| Rejected)?;
            let header = usize::from(tcp.data_offset >> 4) * 4;
            if header < size_of::<Tcp>() || header > payload.len() {
                return Err(Rejected);
            }
            tcp.ports
        }
        UDP => {
            let (udp, _) = Udp::ref_from_prefix(payload).map_err(|_| Rejected)?;
            let length = usize::from(udp.length);
            if length < size_of::<Udp>() || (length > payload.len() && !more_fragments) {
                return Err(Rejected);
            }
            udp.ports
        }
        _ => return Ok(NO_PORTS),
    };
    Ok([source.get(), destination.get()])
}
