// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! etherparse's `SlicedPacket`, which finds the layers of a packet at one go. The new values are written at offsets.
//!
//! It parses more than NAT needs, and rejects a packet whose TCP, ICMP, IGMP or authentication header is malformed. It
//! looks for an authentication header in later fragments too, where there is none.

use super::{
    etherparse_header_slices::{carries_udp_header, first_fragment, header_checksum, udp_checksum},
    machine_order::AddressChange,
    offsets::{self, Checksums, UdpChecksum},
    reading,
};
use crate::contract::{About, FiveTuple, Library, Rejected, Rule, Way};
use etherparse::{
    EtherType, Ipv4HeaderSlice, Ipv4Slice, LinkSlice, NetSlice, SlicedPacket, TransportSlice, UdpHeader, UdpSlice,
};

/// etherparse: `SlicedPacket`, and writes at offsets.
#[derive(Debug)]
pub struct EtherparseSlicedPacket;

impl Library for EtherparseSlicedPacket {
    const NAME: &'static str = "etherparse-sliced-packet";
    const WAY: Way = Way::Offsets;
    const ABOUT: About = About {
        package: "etherparse",
        licence: "MIT OR Apache-2.0",
        no_std: true,
        note: "reads only: writes are at offsets; parses all layers, and rejects a packet if one is malformed; \
               the caller reads first fragments",
    };

    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        ipv4(&sliced(frame)?)?;
        offsets::write_addresses(frame, rule)
    }

    #[inline(always)]
    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let packet = sliced(frame)?;
        let ip = ipv4(&packet)?;
        let checksums = updated(&ip.header(), ip.payload().payload, datagram(&packet), rule)?;
        drop(packet);
        offsets::write(frame, rule, &checksums)
    }

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let packet = sliced(frame)?;
        let checksums = computed(&ipv4(&packet)?.header(), datagram(&packet), rule)?;
        drop(packet);
        offsets::write(frame, rule, &checksums)
    }

    #[inline(always)]
    fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
        reading::etherparse_sliced_packet::five_tuple(frame)
    }
}

/// The checksums of W2, of a packet that was sliced.
#[inline(always)]
pub(super) fn updated(
    ip: &Ipv4HeaderSlice<'_>,
    payload: &[u8],
    datagram: Option<&UdpSlice<'_>>,
    rule: &Rule,
) -> Result<Checksums, Rejected> {
    let change = AddressChange::of(ip.destination(), rule.address);
    let udp = if carries_udp_header(ip) {
        // The payload of a fragment is not sliced.
        let checksum = if ip.more_fragments() {
            first_fragment(payload)?.checksum()
        } else {
            datagram.ok_or(Rejected)?.checksum()
        };
        Some(UdpChecksum { behind: ip.slice().len(), value: change.update_udp(checksum) })
    } else {
        None
    };
    Ok(Checksums { ip: change.update(ip.header_checksum()), udp })
}

/// The checksums of W3, of a packet that was sliced.
#[inline(always)]
pub(super) fn computed(
    ip: &Ipv4HeaderSlice<'_>,
    datagram: Option<&UdpSlice<'_>>,
    rule: &Rule,
) -> Result<Checksums, Rejected> {
    if ip.is_fragmenting_payload() {
        return Err(Rejected);
    }
    let udp = if carries_udp_header(ip) {
        let udp = datagram.ok_or(Rejected)?;
        let value = udp_checksum(&udp.to_header(), ip, rule.address, udp.payload())?;
        Some(UdpChecksum { behind: ip.slice().len(), value })
    } else {
        None
    };
    Ok(Checksums { ip: header_checksum(ip, rule.address), udp })
}

#[inline(always)]
fn sliced(frame: &[u8]) -> Result<SlicedPacket<'_>, Rejected> {
    SlicedPacket::from_ethernet(frame).map_err(|_| Rejected)
}

#[inline(always)]
fn ipv4<'a, 'b>(packet: &'b SlicedPacket<'a>) -> Result<&'b Ipv4Slice<'a>, Rejected> {
    match (&packet.link, &packet.net) {
        (Some(LinkSlice::Ethernet2(ethernet)), Some(NetSlice::Ipv4(ip)))
            if ethernet.ether_type() == EtherType::IPV4 =>
        {
            Ok(ip)
        }
        _ => Err(Rejected),
    }
}

#[inline(always)]
fn datagram<'a, 'b>(packet: &'b SlicedPacket<'a>) -> Option<&'b UdpSlice<'a>> {
    match &packet.transport {
        // A length of 0 would mean that the datagram is as long as the payload.
        Some(TransportSlice::Udp(udp)) if usize::from(udp.length()) >= UdpHeader::LEN => Some(udp),
        _ => None,
    }
}
