// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! etherparse with `std::io::Cursor`: headers are read from the frame, changed, and written back.
//!
//! `write` computes the IPv4 header's checksum and `write_raw` does not. Either would leave out the reserved flag, for
//! which an `Ipv4Header` has no place: the caller looks for it, and rejects such a frame.

use super::{etherparse_slices::has_reserved_flag, machine_order::AddressChange, reading};
use crate::contract::{About, FiveTuple, Library, Rejected, Rule, Way};
use etherparse::{EtherType, Ethernet2Header, IpNumber, Ipv4Header, UdpHeader};
use std::io::Cursor;

/// etherparse: headers read and written by `std::io`.
#[derive(Debug)]
pub struct EtherparseCursor;

impl Library for EtherparseCursor {
    const NAME: &'static str = "etherparse-cursor";
    const WAY: Way = Way::Copies;
    const ABOUT: About = About {
        package: "etherparse",
        licence: "MIT OR Apache-2.0",
        no_std: false,
        note: "reads headers and writes them back; the caller checks the total length and the reserved flag",
    };

    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let mut cursor = Cursor::new(frame);
        let mut headers = Headers::read(&mut cursor)?;
        headers.set_addresses(rule);
        cursor.set_position(0);
        headers.ethernet.write(&mut cursor).map_err(|_| Rejected)?;
        headers.ip.write_raw(&mut cursor).map_err(|_| Rejected)
    }

    #[inline(always)]
    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let mut cursor = Cursor::new(frame);
        let mut headers = Headers::read(&mut cursor)?;
        let room = headers.payload_len(&cursor)?;
        let change = AddressChange::of(headers.ip.destination, rule.address);
        let udp = if headers.ip.protocol == IpNumber::UDP && headers.ip.fragment_offset.value() == 0 {
            let mut udp = read_udp(&mut cursor, room, headers.ip.more_fragments)?;
            udp.checksum = change.update_udp(udp.checksum);
            Some(udp)
        } else {
            None
        };
        headers.ip.header_checksum = change.update(headers.ip.header_checksum);
        headers.set_addresses(rule);
        cursor.set_position(0);
        headers.ethernet.write(&mut cursor).map_err(|_| Rejected)?;
        headers.ip.write_raw(&mut cursor).map_err(|_| Rejected)?;
        udp.map_or(Ok(()), |udp| udp.write(&mut cursor)).map_err(|_| Rejected)
    }

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let mut cursor = Cursor::new(frame);
        let mut headers = Headers::read(&mut cursor)?;
        let room = headers.payload_len(&cursor)?;
        if headers.ip.is_fragmenting_payload() {
            return Err(Rejected);
        }
        headers.set_addresses(rule);
        let udp = if headers.ip.protocol == IpNumber::UDP {
            let mut udp = read_udp(&mut cursor, room, false)?;
            if udp.checksum != 0 {
                let data = rest(&cursor).get(..usize::from(udp.length) - UdpHeader::LEN).ok_or(Rejected)?;
                udp.checksum = udp.calc_checksum_ipv4(&headers.ip, data).map_err(|_| Rejected)?;
            }
            Some(udp)
        } else {
            None
        };
        cursor.set_position(0);
        headers.ethernet.write(&mut cursor).map_err(|_| Rejected)?;
        headers.ip.write(&mut cursor).map_err(|_| Rejected)?;
        udp.map_or(Ok(()), |udp| udp.write(&mut cursor)).map_err(|_| Rejected)
    }

    #[inline(always)]
    fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
        reading::etherparse_cursor::five_tuple(frame)
    }
}

type Frame<'a> = Cursor<&'a mut [u8]>;

struct Headers {
    ethernet: Ethernet2Header,
    ip: Ipv4Header,
}

impl Headers {
    #[inline(always)]
    fn read(cursor: &mut Frame<'_>) -> Result<Self, Rejected> {
        let ethernet = Ethernet2Header::read(cursor).map_err(|_| Rejected)?;
        if ethernet.ether_type != EtherType::IPV4 {
            return Err(Rejected);
        }
        let ip = Ipv4Header::read(cursor).map_err(|_| Rejected)?;
        if has_reserved_flag(cursor.get_ref()) {
            return Err(Rejected);
        }
        Ok(Self { ethernet, ip })
    }

    /// The length of the payload, if all of it lies behind the cursor.
    #[inline(always)]
    fn payload_len(&self, cursor: &Frame<'_>) -> Result<usize, Rejected> {
        let length = usize::from(self.ip.payload_len().map_err(|_| Rejected)?);
        if length <= rest(cursor).len() { Ok(length) } else { Err(Rejected) }
    }

    #[inline(always)]
    fn set_addresses(&mut self, rule: &Rule) {
        self.ethernet.destination = rule.destination;
        self.ethernet.source = rule.source;
        self.ip.destination = rule.address;
    }
}

/// What is behind the cursor.
#[inline(always)]
fn rest<'a>(cursor: &'a Frame<'_>) -> &'a [u8] {
    cursor.get_ref().get(cursor.position() as usize..).unwrap_or_default()
}

/// The UDP header of a datagram for which a payload has so much room.
#[inline(always)]
fn read_udp(cursor: &mut Frame<'_>, room: usize, fragmented: bool) -> Result<UdpHeader, Rejected> {
    if room < UdpHeader::LEN {
        return Err(Rejected);
    }
    let udp = UdpHeader::read(cursor).map_err(|_| Rejected)?;
    let length = usize::from(udp.length);
    let whole = fragmented || length <= room;
    if length >= UdpHeader::LEN && whole { Ok(udp) } else { Err(Rejected) }
}
