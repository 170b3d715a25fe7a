// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! etherparse with header slices, which are read where they lie. The new values are written at fixed offsets.

use super::{
    machine_order::AddressChange,
    offsets::{self, Checksums, UdpChecksum},
    reading,
};
use crate::contract::{About, FiveTuple, Library, Rejected, Rule, Way};
use etherparse::{
    EtherType, Ethernet2Header, Ethernet2HeaderSlice, IpNumber, Ipv4HeaderSlice, UdpHeader, UdpHeaderSlice,
    checksum::Sum16BitWords,
};

/// etherparse: header slices, and writes at offsets.
#[derive(Debug)]
pub struct EtherparseHeaderSlices;

impl Library for EtherparseHeaderSlices {
    const NAME: &'static str = "etherparse-header-slices";
    const WAY: Way = Way::Offsets;
    const ABOUT: About = About {
        package: "etherparse",
        licence: "MIT OR Apache-2.0",
        no_std: true,
        note: "reads only: writes are at offsets; the caller checks the total length",
    };

    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        ipv4(frame)?;
        offsets::write_addresses(frame, rule)
    }

    #[inline(always)]
    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (ip, rest) = ipv4(frame)?;
        let payload = payload(&ip, rest)?;
        let change = AddressChange::of(ip.destination(), rule.address);
        let udp = if carries_udp_header(&ip) {
            let udp = if ip.more_fragments() { first_fragment(payload)? } else { datagram(payload)?.0 };
            Some(UdpChecksum { behind: ip.slice().len(), value: change.update_udp(udp.checksum()) })
        } else {
            None
        };
        let checksums = Checksums { ip: change.update(ip.header_checksum()), udp };
        offsets::write(frame, rule, &checksums)
    }

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (ip, rest) = ipv4(frame)?;
        let payload = payload(&ip, rest)?;
        if ip.is_fragmenting_payload() {
            return Err(Rejected);
        }
        let udp = if carries_udp_header(&ip) {
            let (udp, data) = datagram(payload)?;
            let value = udp_checksum(&udp.to_header(), &ip, rule.address, data)?;
            Some(UdpChecksum { behind: ip.slice().len(), value })
        } else {
            None
        };
        let checksums = Checksums { ip: header_checksum(&ip, rule.address), udp };
        offsets::write(frame, rule, &checksums)
    }

    #[inline(always)]
    fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
        reading::etherparse_header_slices::five_tuple(frame)
    }
}

/// The IPv4 header, and what is behind it.
#[inline(always)]
fn ipv4(frame: &[u8]) -> Result<(Ipv4HeaderSlice<'_>, &[u8]), Rejected> {
    let ethernet = Ethernet2HeaderSlice::from_slice(frame).map_err(|_| Rejected)?;
    if ethernet.ether_type() != EtherType::IPV4 {
        return Err(Rejected);
    }
    let packet = &frame[Ethernet2Header::LEN..];
    let ip = Ipv4HeaderSlice::from_slice(packet).map_err(|_| Rejected)?;
    let rest = &packet[ip.slice().len()..];
    Ok((ip, rest))
}

#[inline(always)]
fn payload<'a>(ip: &Ipv4HeaderSlice<'_>, rest: &'a [u8]) -> Result<&'a [u8], Rejected> {
    let length = ip.payload_len().map_err(|_| Rejected)?;
    rest.get(..usize::from(length)).ok_or(Rejected)
}

#[inline(always)]
pub(super) fn carries_udp_header(ip: &Ipv4HeaderSlice<'_>) -> bool {
    ip.protocol() == IpNumber::UDP && ip.fragments_offset().value() == 0
}

/// The header and the data of the datagram in a payload.
#[inline(always)]
fn datagram(payload: &[u8]) -> Result<(UdpHeaderSlice<'_>, &[u8]), Rejected> {
    let udp = UdpHeaderSlice::from_slice(payload).map_err(|_| Rejected)?;
    let data = payload.get(UdpHeader::LEN..usize::from(udp.length())).ok_or(Rejected)?;
    Ok((udp, data))
}

/// The header of a datagram of which only the first fragment is there.
#[inline(always)]
pub(super) fn first_fragment(payload: &[u8]) -> Result<UdpHeaderSlice<'_>, Rejected> {
    let udp = UdpHeaderSlice::from_slice(payload).map_err(|_| Rejected)?;
    if usize::from(udp.length()) < UdpHeader::LEN { Err(Rejected) } else { Ok(udp) }
}

/// The header's checksum with another destination.
#[inline(always)]
pub(super) fn header_checksum(ip: &Ipv4HeaderSlice<'_>, destination: [u8; 4]) -> u16 {
    let before_checksum = &ip.slice()[..10];
    Sum16BitWords::new()
        .add_slice(before_checksum)
        .add_4bytes(ip.source())
        .add_4bytes(destination)
        .add_slice(ip.options())
        .ones_complement()
        .to_be()
}

/// The datagram's checksum with another destination, or 0 if it has none.
#[inline(always)]
pub(super) fn udp_checksum(
    udp: &UdpHeader,
    ip: &Ipv4HeaderSlice<'_>,
    destination: [u8; 4],
    data: &[u8],
) -> Result<u16, Rejected> {
    if udp.checksum == 0 {
        return Ok(0);
    }
    udp.calc_checksum_ipv4_raw(ip.source(), destination, data).map_err(|_| Rejected)
}
