// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! etherparse's `LaxSlicedPacket`, which also reads truncated and malformed packets. The new values are written at
//! offsets.
//!
//! NAT must not be lax. The caller therefore checks the source of each length, and whether the ethertype, which the library
//! ignores in favour of the packet's version, is that of IPv4.

use super::{
    etherparse_sliced_packet::{computed, updated},
    offsets, reading,
};
use crate::contract::{About, FiveTuple, Library, Rejected, Rule, Way};
use etherparse::{
    EtherType, LaxIpv4Slice, LaxNetSlice, LaxSlicedPacket, LenSource, LinkSlice, TransportSlice, UdpHeader, UdpSlice,
};

/// etherparse: `LaxSlicedPacket`, and writes at offsets.
#[derive(Debug)]
pub struct EtherparseLax;

impl Library for EtherparseLax {
    const NAME: &'static str = "etherparse-lax";
    const WAY: Way = Way::Offsets;
    const ABOUT: About = About {
        package: "etherparse",
        licence: "MIT OR Apache-2.0",
        no_std: true,
        note: "reads only: writes are at offsets; accepts what is cut off, so the caller checks all lengths",
    };

    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        ipv4(&sliced(frame)?)?;
        offsets::write_addresses(frame, rule)
    }

    #[inline(always)]
    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let packet = sliced(frame)?;
        let ip = whole(ipv4(&packet)?)?;
        let checksums = updated(&ip.header(), ip.payload().payload, datagram(&packet), rule)?;
        drop(packet);
        offsets::write(frame, rule, &checksums)
    }

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let packet = sliced(frame)?;
        let checksums = computed(&whole(ipv4(&packet)?)?.header(), datagram(&packet), rule)?;
        drop(packet);
        offsets::write(frame, rule, &checksums)
    }

    #[inline(always)]
    fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
        reading::etherparse_lax::five_tuple(frame)
    }
}

#[inline(always)]
fn sliced(frame: &[u8]) -> Result<LaxSlicedPacket<'_>, Rejected> {
    LaxSlicedPacket::from_ethernet(frame).map_err(|_| Rejected)
}

#[inline(always)]
fn ipv4<'a, 'b>(packet: &'b LaxSlicedPacket<'a>) -> Result<&'b LaxIpv4Slice<'a>, Rejected> {
    match (&packet.link, &packet.net) {
        (Some(LinkSlice::Ethernet2(ethernet)), Some(LaxNetSlice::Ipv4(ip)))
            if ethernet.ether_type() == EtherType::IPV4 =>
        {
            Ok(ip)
        }
        _ => Err(Rejected),
    }
}

/// The packet, if it is as long as it says.
#[inline(always)]
fn whole<'a, 'b>(ip: &'b LaxIpv4Slice<'a>) -> Result<&'b LaxIpv4Slice<'a>, Rejected> {
    if ip.payload().len_source == LenSource::Ipv4HeaderTotalLen { Ok(ip) } else { Err(Rejected) }
}

/// The datagram, if it is as long as it says.
#[inline(always)]
fn datagram<'a, 'b>(packet: &'b LaxSlicedPacket<'a>) -> Option<&'b UdpSlice<'a>> {
    let Some(TransportSlice::Udp(udp)) = &packet.transport else { return None };
    let length = usize::from(udp.length());
    (length >= UdpHeader::LEN && length == udp.slice().len()).then_some(udp)
}
