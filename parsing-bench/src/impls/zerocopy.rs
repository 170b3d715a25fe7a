// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! zerocopy: headers declared by the user as structs, and casts that check sizes and alignment at compile or run time.

use super::{
    machine_order::{AddressChange, of_datagram, of_header},
    reading,
};
use crate::contract::{About, FiveTuple, Library, Rejected, Rule};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned, network_endian::U16};

const IPV4: u16 = 0x0800;
const UDP: u8 = 17;
const MORE_FRAGMENTS: u16 = 0x2000;
const FRAGMENT_OFFSET: u16 = 0x1fff;

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Ethernet {
    destination: [u8; 6],
    source: [u8; 6],
    ethertype: U16,
}

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Ipv4 {
    version_and_header_length: u8,
    type_of_service: u8,
    total_length: U16,
    identification: U16,
    flags_and_fragment_offset: U16,
    time_to_live: u8,
    protocol: u8,
    checksum: U16,
    source: [u8; 4],
    destination: [u8; 4],
}

#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Udp {
    source: U16,
    destination: U16,
    length: U16,
    checksum: U16,
}

impl Ethernet {
    #[inline(always)]
    fn set_macs(&mut self, rule: &Rule) {
        self.destination = rule.destination;
        self.source = rule.source;
    }
}

impl Ipv4 {
    #[inline(always)]
    fn is_fragment(&self) -> bool {
        self.flags_and_fragment_offset.get() & (MORE_FRAGMENTS | FRAGMENT_OFFSET) != 0
    }

    /// Whether the payload begins with a UDP header.
    #[inline(always)]
    fn has_udp_header(&self) -> bool {
        self.protocol == UDP && self.flags_and_fragment_offset.get() & FRAGMENT_OFFSET == 0
    }

    /// Options and payload of a packet, of which `rest` is what follows the fixed header.
    #[inline(always)]
    fn split<'a>(&self, rest: &'a mut [u8]) -> Result<(&'a mut [u8], &'a mut [u8]), Rejected> {
        let version = self.version_and_header_length >> 4;
        let header = usize::from(self.version_and_header_length & 0x0f) * 4;
        let options = header.checked_sub(size_of::<Self>()).ok_or(Rejected)?;
        let length = usize::from(self.total_length.get()).checked_sub(size_of::<Self>()).ok_or(Rejected)?;
        let rest = rest.get_mut(..length).ok_or(Rejected)?;
        if version != 4 {
            return Err(Rejected);
        }
        rest.split_at_mut_checked(options).ok_or(Rejected)
    }
}

/// zerocopy.
#[derive(Debug)]
pub struct Zerocopy;

impl Library for Zerocopy {
    const NAME: &'static str = "zerocopy";
    const ABOUT: About = About {
        package: "zerocopy",
        licence: "BSD-2-Clause OR Apache-2.0 OR MIT",
        no_std: true,
        note: "casts only: headers, checks and checksums are the user's",
    };

    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (ethernet, ip, _) = headers(frame)?;
        ip.destination = rule.address;
        ethernet.set_macs(rule);
        Ok(())
    }

    #[inline(always)]
    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (ethernet, ip, rest) = headers(frame)?;
        let (_, payload) = ip.split(rest)?;
        let change = AddressChange::of(ip.destination, rule.address);
        if ip.has_udp_header() {
            let room = payload.len();
            let (udp, _) = Udp::mut_from_prefix(payload).map_err(|_| Rejected)?;
            let length = usize::from(udp.length.get());
            if length < size_of::<Udp>() || (!ip.is_fragment() && length > room) {
                return Err(Rejected);
            }
            udp.checksum.set(change.update_udp(udp.checksum.get()));
        }
        ip.checksum.set(change.update(ip.checksum.get()));
        ip.destination = rule.address;
        ethernet.set_macs(rule);
        Ok(())
    }

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (ethernet, ip, rest) = headers(frame)?;
        let (options, payload) = ip.split(rest)?;
        if ip.is_fragment() {
            return Err(Rejected);
        }
        if ip.has_udp_header() {
            let (udp, rest) = Udp::mut_from_prefix(payload).map_err(|_| Rejected)?;
            let length = usize::from(udp.length.get()).checked_sub(size_of::<Udp>()).ok_or(Rejected)?;
            let data = rest.get(..length).ok_or(Rejected)?;
            if udp.checksum.get() != 0 {
                udp.checksum.set(0);
                udp.checksum.set(of_datagram([ip.source, rule.address], udp.as_bytes(), data));
            }
        }
        ip.destination = rule.address;
        ip.checksum.set(0);
        ip.checksum.set(of_header(ip.as_bytes(), options));
        ethernet.set_macs(rule);
        Ok(())
    }

    #[inline(always)]
    fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
        reading::zerocopy::five_tuple(frame)
    }
}

/// The fixed headers of an IPv4 frame, and the bytes after them.
#[inline(always)]
fn headers(frame: &mut [u8]) -> Result<(&mut Ethernet, &mut Ipv4, &mut [u8]), Rejected> {
    let (ethernet, rest) = Ethernet::mut_from_prefix(frame).map_err(|_| Rejected)?;
    let (ip, rest) = Ipv4::mut_from_prefix(rest).map_err(|_| Rejected)?;
    if ethernet.ethertype.get() == IPV4 { Ok((ethernet, ip, rest)) } else { Err(Rejected) }
}
