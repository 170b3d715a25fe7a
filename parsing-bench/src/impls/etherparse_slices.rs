// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! etherparse with slices: headers are copied out of the frame, changed, and copied back.
//!
//! An `Ipv4Header` has no place for the reserved flag, and a frame in which it is set would come back without it. The
//! caller looks for the flag, and rejects such a frame.

use super::{machine_order::AddressChange, reading};
use crate::contract::{About, FiveTuple, Library, Rejected, Rule, Way};
use etherparse::{EtherType, Ethernet2Header, IpNumber, Ipv4Header, UdpHeader};

/// etherparse: headers copied from slices and back.
#[derive(Debug)]
pub struct EtherparseSlices;

impl Library for EtherparseSlices {
    const NAME: &'static str = "etherparse-slices";
    const WAY: Way = Way::Copies;
    const ABOUT: About = About {
        package: "etherparse",
        licence: "MIT OR Apache-2.0",
        no_std: true,
        note: "copies headers out and back; the caller checks the total length and the reserved flag",
    };

    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (mut headers, _) = Headers::copy(frame)?;
        headers.set_addresses(rule);
        headers.write(frame)
    }

    #[inline(always)]
    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (mut headers, packet) = Headers::copy(frame)?;
        let change = AddressChange::of(headers.ip.destination, rule.address);
        if headers.carries_udp_header() {
            let (mut udp, _) = headers.copy_udp(headers.payload(packet)?)?;
            udp.checksum = change.update_udp(udp.checksum);
            headers.udp = Some(udp);
        } else {
            headers.payload(packet)?;
        }
        headers.ip.header_checksum = change.update(headers.ip.header_checksum);
        headers.set_addresses(rule);
        headers.write(frame)
    }

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (mut headers, packet) = Headers::copy(frame)?;
        let payload = headers.payload(packet)?;
        if headers.ip.is_fragmenting_payload() {
            return Err(Rejected);
        }
        headers.set_addresses(rule);
        if headers.carries_udp_header() {
            let (mut udp, data) = headers.copy_udp(payload)?;
            if udp.checksum != 0 {
                udp.checksum = udp.calc_checksum_ipv4(&headers.ip, data).map_err(|_| Rejected)?;
            }
            headers.udp = Some(udp);
        }
        headers.ip.header_checksum = headers.ip.calc_header_checksum();
        headers.write(frame)
    }

    #[inline(always)]
    fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
        reading::etherparse_slices::five_tuple(frame)
    }
}

/// Whether the IPv4 header has the flag that a copy of the header would lack.
#[inline(always)]
pub(super) fn has_reserved_flag(frame: &[u8]) -> bool {
    const FLAGS: usize = Ethernet2Header::LEN + 6;
    const RESERVED: u8 = 0x80;
    frame.get(FLAGS).is_some_and(|flags| flags & RESERVED != 0)
}

/// Copies of a frame's headers.
struct Headers {
    ethernet: Ethernet2Header,
    ip: Ipv4Header,
    udp: Option<UdpHeader>,
}

impl Headers {
    /// Those of Ethernet and IPv4, and the bytes behind them.
    #[inline(always)]
    fn copy(frame: &[u8]) -> Result<(Self, &[u8]), Rejected> {
        let (ethernet, packet) = Ethernet2Header::from_slice(frame).map_err(|_| Rejected)?;
        if ethernet.ether_type != EtherType::IPV4 {
            return Err(Rejected);
        }
        let (ip, rest) = Ipv4Header::from_slice(packet).map_err(|_| Rejected)?;
        if has_reserved_flag(frame) {
            return Err(Rejected);
        }
        Ok((Self { ethernet, ip, udp: None }, rest))
    }

    /// The payload, of what is behind the IPv4 header.
    #[inline(always)]
    fn payload<'a>(&self, rest: &'a [u8]) -> Result<&'a [u8], Rejected> {
        let length = self.ip.payload_len().map_err(|_| Rejected)?;
        rest.get(..usize::from(length)).ok_or(Rejected)
    }

    #[inline(always)]
    fn carries_udp_header(&self) -> bool {
        self.ip.protocol == IpNumber::UDP && self.ip.fragment_offset.value() == 0
    }

    /// The UDP header at the beginning of the payload, and what there is of the datagram's data.
    #[inline(always)]
    fn copy_udp<'a>(&self, payload: &'a [u8]) -> Result<(UdpHeader, &'a [u8]), Rejected> {
        let (udp, rest) = UdpHeader::from_slice(payload).map_err(|_| Rejected)?;
        let length = usize::from(udp.length).checked_sub(UdpHeader::LEN).ok_or(Rejected)?;
        let data = if self.ip.more_fragments { rest } else { rest.get(..length).ok_or(Rejected)? };
        Ok((udp, data))
    }

    #[inline(always)]
    fn set_addresses(&mut self, rule: &Rule) {
        self.ethernet.destination = rule.destination;
        self.ethernet.source = rule.source;
        self.ip.destination = rule.address;
    }

    /// Copies the headers back to where they were.
    #[inline(always)]
    fn write(&self, frame: &mut [u8]) -> Result<(), Rejected> {
        let packet = self.ethernet.write_to_slice(frame).map_err(|_| Rejected)?;
        let (ip, payload) = packet.split_at_mut_checked(self.ip.header_len()).ok_or(Rejected)?;
        ip.copy_from_slice(&self.ip.to_bytes());
        if let Some(udp) = &self.udp {
            *payload.first_chunk_mut().ok_or(Rejected)? = udp.to_bytes();
        }
        Ok(())
    }
}
