// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Unsafe Rust: one look at the length, then reads and writes through a pointer. The limit that the others are held
//! against.
#![allow(unsafe_code)]

use crate::{
    checksum::{Change, Sum},
    contract::{About, FiveTuple, Library, Rejected, Rule, Way},
};
use core::{net::IpAddr, slice};

/// Unsafe Rust by hand.
#[derive(Debug)]
pub struct UnsafeRust;

const HEADERS: usize = 34;
const IP: usize = 14;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const TAGS: [u16; 2] = [0x8100, 0x88a8];

const HOP_BY_HOP: u8 = 0;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ROUTING: u8 = 43;
const FRAGMENT: u8 = 44;
const DESTINATION_OPTIONS: u8 = 60;

const FRAGMENT_OFFSET: u16 = 0x1fff;
const MORE_FRAGMENTS: u16 = 0x2000;

impl Library for UnsafeRust {
    const NAME: &'static str = "unsafe-rust";
    const WAY: Way = Way::ByHand;
    const ABOUT: About = About {
        package: "",
        licence: "BSD-3-Clause",
        no_std: true,
        note: "by hand: the length is checked, all else goes through a pointer; the limit",
    };

    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        if frame.len() < HEADERS {
            return Err(Rejected);
        }
        let frame = frame.as_mut_ptr();
        // SAFETY: the frame has 34 bytes.
        if unsafe { be16(frame, 12) } != IPV4 {
            return Err(Rejected);
        }
        // SAFETY: likewise, and nobody else has a reference to them.
        unsafe { write_addresses(frame, rule) };
        Ok(())
    }

    #[inline(always)]
    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let packet = Packet::of(frame)?;
        let frame = frame.as_mut_ptr();
        // SAFETY: a packet has 34 bytes of headers.
        let change = Change::of(unsafe { read(frame, 30) }, rule.address);
        // The protocol is UDP, at fragment offset 0: two of four bytes that one comparison looks at.
        // SAFETY: likewise.
        let fields = u32::from_be_bytes(unsafe { read(frame, 20) });
        if fields & (u32::from(FRAGMENT_OFFSET) << 16 | 0xff) == u32::from(UDP) {
            if packet.payload < 8 {
                return Err(Rejected);
            }
            // SAFETY: the UDP header lies in the payload, and that in the frame.
            let udp = unsafe { frame.add(IP + packet.header) };
            // SAFETY: likewise.
            let length = usize::from(unsafe { be16(udp, 4) });
            // A length below that of the header wraps round: what fits is right, and that is one comparison.
            if length.wrapping_sub(8) > packet.payload - 8
                && (length < 8 || fields & u32::from(MORE_FRAGMENTS) << 16 == 0)
            {
                return Err(Rejected);
            }
            // SAFETY: likewise.
            let checksum = change.update_udp(unsafe { read(udp, 6) });
            // SAFETY: likewise, and nobody else has a reference to it.
            unsafe { write(udp, 6, checksum) };
        }
        // SAFETY: a packet has 34 bytes of headers.
        let checksum = change.update(unsafe { read(frame, 24) });
        // SAFETY: likewise, and nobody else has a reference to them.
        unsafe { write(frame, 24, checksum) };
        // SAFETY: likewise.
        unsafe { write_addresses(frame, rule) };
        Ok(())
    }

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let packet = Packet::of(frame)?;
        let frame = frame.as_mut_ptr();
        // SAFETY: a packet has 34 bytes of headers.
        if unsafe { be16(frame, 20) } & (FRAGMENT_OFFSET | MORE_FRAGMENTS) != 0 {
            return Err(Rejected);
        }
        // SAFETY: likewise.
        let source = unsafe { read(frame, 26) };
        let addresses = Sum::new().double_word(source).double_word(rule.address);
        if packet.protocol == UDP {
            if packet.payload < 8 {
                return Err(Rejected);
            }
            // SAFETY: the UDP header lies in the payload, and that in the frame.
            let udp = unsafe { frame.add(IP + packet.header) };
            // SAFETY: likewise.
            let length: [u8; 2] = unsafe { read(udp, 4) };
            let datagram = usize::from(u16::from_be_bytes(length));
            if datagram < 8 || datagram > packet.payload {
                return Err(Rejected);
            }
            // SAFETY: likewise.
            if unsafe { read(udp, 6) } != [0, 0] {
                // SAFETY: likewise.
                let ports = unsafe { read(udp, 0) };
                // SAFETY: all of the datagram lies in the payload.
                let data = unsafe { udp.add(8) };
                // SAFETY: likewise; nobody writes to it while the slice is in use.
                let data = unsafe { slice::from_raw_parts(data, datagram - 8) };
                // The length is there twice: in the pseudo-header too.
                let sum = addresses.word([0, UDP]).word(length).word(length).double_word(ports).bytes(data);
                // SAFETY: the UDP header lies in the payload, and nobody else has a reference to it.
                unsafe { write(udp, 6, sum.checksum_udp()) };
            }
        }
        // SAFETY: a packet has 34 bytes of headers.
        let first = unsafe { read(frame, IP) };
        // SAFETY: likewise.
        let second = unsafe { read(frame, 18) };
        // SAFETY: likewise.
        let third = unsafe { read(frame, 22) };
        // SAFETY: likewise; the options end where the payload begins.
        let options = unsafe { frame.add(HEADERS) };
        // SAFETY: likewise; nobody writes to them while the slice is in use.
        let options = unsafe { slice::from_raw_parts(options, packet.header - 20) };
        let sum = addresses.double_word(first).double_word(second).word(third).bytes(options);
        // SAFETY: a packet has 34 bytes of headers, and nobody else has a reference to them.
        unsafe { write(frame, 24, sum.checksum()) };
        // SAFETY: likewise.
        unsafe { write_addresses(frame, rule) };
        Ok(())
    }

    #[inline(always)]
    fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
        five_tuple(frame)
    }
}

/// A well-formed IPv4 packet that lies in its frame.
#[derive(Clone, Copy)]
struct Packet {
    /// The lengths of its parts.
    header: usize,
    payload: usize,
    protocol: u8,
}

impl Packet {
    #[inline(always)]
    fn of(frame: &[u8]) -> Result<Self, Rejected> {
        let room = frame.len();
        if room < HEADERS {
            return Err(Rejected);
        }
        let frame = frame.as_ptr();
        // SAFETY: the frame has 34 bytes.
        let ethertype = unsafe { be16(frame, 12) };
        // SAFETY: likewise.
        let [first]: [u8; 1] = unsafe { read(frame, IP) };
        // SAFETY: likewise.
        let total = usize::from(unsafe { be16(frame, 16) });
        // SAFETY: likewise.
        let [protocol] = unsafe { read(frame, 23) };
        let header = usize::from(first & 0x0f) * 4;
        // Version 4 and five double words or more are one range of values.
        if ethertype != IPV4 || !(0x45..=0x4f).contains(&first) || total < header || total > room - IP {
            return Err(Rejected);
        }
        Ok(Self { header, payload: total - header, protocol })
    }
}

/// The bytes at a place.
///
/// # Safety
///
/// `at + N` bytes can be read.
#[inline(always)]
unsafe fn read<const N: usize>(bytes: *const u8, at: usize) -> [u8; N] {
    // SAFETY: as the caller says.
    let place = unsafe { bytes.add(at) };
    // SAFETY: likewise; an array of bytes may lie anywhere.
    unsafe { place.cast::<[u8; N]>().read() }
}

/// The 16-bit field at a place.
///
/// # Safety
///
/// `at + 2` bytes can be read.
#[inline(always)]
unsafe fn be16(bytes: *const u8, at: usize) -> u16 {
    // SAFETY: as the caller says.
    u16::from_be_bytes(unsafe { read(bytes, at) })
}

/// Writes bytes to a place.
///
/// # Safety
///
/// `at + N` bytes can be written, and nobody else has a reference to them.
#[inline(always)]
unsafe fn write<const N: usize>(bytes: *mut u8, at: usize, value: [u8; N]) {
    // SAFETY: as the caller says.
    let place = unsafe { bytes.add(at) };
    // SAFETY: likewise; an array of bytes may lie anywhere.
    unsafe { place.cast::<[u8; N]>().write(value) };
}

/// # Safety
///
/// The frame has 34 bytes, and nobody else has a reference to it.
#[inline(always)]
unsafe fn write_addresses(frame: *mut u8, rule: &Rule) {
    // Both MAC addresses are neighbours in the rule, whose layout is C's, as in the frame.
    // SAFETY: the rule is borrowed, and these are its first 12 bytes.
    let addresses: [u8; 12] = unsafe { read((&raw const *rule).cast(), 0) };
    // SAFETY: as the caller says.
    unsafe { write(frame, 0, addresses) };
    // SAFETY: likewise.
    unsafe { write(frame, 30, rule.address) };
}

/// What is left of a frame: so many bytes can be read.
#[derive(Clone, Copy)]
struct Rest {
    bytes: *const u8,
    length: usize,
}

impl Rest {
    /// # Safety
    ///
    /// So many bytes are left.
    #[inline(always)]
    unsafe fn skip(self, length: usize) -> Self {
        // SAFETY: as the caller says.
        Self { bytes: unsafe { self.bytes.add(length) }, length: self.length - length }
    }

    #[inline(always)]
    fn at_least(self, length: usize) -> Result<(), Rejected> {
        if self.length < length { Err(Rejected) } else { Ok(()) }
    }
}

#[inline(always)]
fn five_tuple(frame: &[u8]) -> Result<FiveTuple, Rejected> {
    let rest = Rest { bytes: frame.as_ptr(), length: frame.len() };
    rest.at_least(14)?;
    // SAFETY: the frame has 14 bytes.
    let mut ethertype = unsafe { be16(rest.bytes, 12) };
    // SAFETY: likewise.
    let mut rest = unsafe { rest.skip(14) };
    for _ in 0..2 {
        if !TAGS.contains(&ethertype) {
            break;
        }
        rest.at_least(4)?;
        // SAFETY: the tag has 4 bytes.
        ethertype = unsafe { be16(rest.bytes, 2) };
        // SAFETY: likewise.
        rest = unsafe { rest.skip(4) };
    }
    match ethertype {
        IPV4 => ipv4(rest),
        IPV6 => ipv6(rest),
        _ => Err(Rejected),
    }
}

#[inline(always)]
fn ipv4(mut rest: Rest) -> Result<FiveTuple, Rejected> {
    rest.at_least(20)?;
    let packet = rest.bytes;
    // SAFETY: the packet has 20 bytes.
    let [first]: [u8; 1] = unsafe { read(packet, 0) };
    // SAFETY: likewise.
    let total = usize::from(unsafe { be16(packet, 2) });
    let header = usize::from(first & 0x0f) * 4;
    if !(0x45..=0x4f).contains(&first) || total < header || total > rest.length {
        return Err(Rejected);
    }
    rest.length = total;
    // SAFETY: likewise.
    let fragment = unsafe { be16(packet, 6) };
    // SAFETY: likewise.
    let [protocol] = unsafe { read(packet, 9) };
    // SAFETY: likewise.
    let source: [u8; 4] = unsafe { read(packet, 12) };
    // SAFETY: likewise.
    let destination: [u8; 4] = unsafe { read(packet, 16) };
    let [source_port, destination_port] = if fragment & FRAGMENT_OFFSET == 0 {
        // SAFETY: the header lies in the packet.
        ports(protocol, unsafe { rest.skip(header) }, fragment & MORE_FRAGMENTS != 0)?
    } else {
        [0, 0]
    };
    let (source, destination) = (IpAddr::from(source), IpAddr::from(destination));
    Ok(FiveTuple { source, destination, protocol, source_port, destination_port })
}

#[inline(always)]
fn ipv6(rest: Rest) -> Result<FiveTuple, Rejected> {
    rest.at_least(40)?;
    let packet = rest.bytes;
    // SAFETY: the packet has 40 bytes.
    let [first]: [u8; 1] = unsafe { read(packet, 0) };
    // SAFETY: likewise.
    let length = usize::from(unsafe { be16(packet, 4) });
    // SAFETY: likewise.
    let [mut protocol] = unsafe { read(packet, 6) };
    // SAFETY: likewise.
    let source: [u8; 16] = unsafe { read(packet, 8) };
    // SAFETY: likewise.
    let destination: [u8; 16] = unsafe { read(packet, 24) };
    // SAFETY: likewise.
    let mut rest = unsafe { rest.skip(40) };
    if first >> 4 != 6 || length > rest.length {
        return Err(Rejected);
    }
    rest.length = length;
    let mut more_fragments = false;
    let [source_port, destination_port] = loop {
        if !matches!(protocol, HOP_BY_HOP | ROUTING | FRAGMENT | DESTINATION_OPTIONS) {
            break ports(protocol, rest, more_fragments)?;
        }
        // No extension header is shorter.
        rest.at_least(8)?;
        // SAFETY: 8 bytes are left.
        let [next, length]: [u8; 2] = unsafe { read(rest.bytes, 0) };
        let header = if protocol == FRAGMENT { 8 } else { (usize::from(length) + 1) * 8 };
        rest.at_least(header)?;
        if protocol == FRAGMENT {
            // SAFETY: likewise.
            let fragment = unsafe { be16(rest.bytes, 2) };
            if fragment & 0xfff8 != 0 {
                protocol = next;
                break [0, 0];
            }
            more_fragments |= fragment & 1 != 0;
        }
        protocol = next;
        // SAFETY: the header lies in what is left.
        rest = unsafe { rest.skip(header) };
    };
    let (source, destination) = (IpAddr::from(source), IpAddr::from(destination));
    Ok(FiveTuple { source, destination, protocol, source_port, destination_port })
}

#[inline(always)]
fn ports(protocol: u8, rest: Rest, more_fragments: bool) -> Result<[u16; 2], Rejected> {
    let length = match protocol {
        UDP => {
            rest.at_least(8)?;
            // SAFETY: 8 bytes are left.
            let length = usize::from(unsafe { be16(rest.bytes, 4) });
            // A fragment need not hold all of the datagram.
            if more_fragments { length.clamp(7, 8) } else { length }
        }
        TCP => {
            rest.at_least(20)?;
            // SAFETY: 20 bytes are left.
            let [offset]: [u8; 1] = unsafe { read(rest.bytes, 12) };
            usize::from(offset >> 4) * 4
        }
        _ => return Ok([0, 0]),
    };
    let least = if protocol == UDP { 8 } else { 20 };
    if length < least || length > rest.length {
        return Err(Rejected);
    }
    // SAFETY: so many bytes are left.
    let source = unsafe { be16(rest.bytes, 0) };
    // SAFETY: likewise.
    Ok([source, unsafe { be16(rest.bytes, 2) }])
}
