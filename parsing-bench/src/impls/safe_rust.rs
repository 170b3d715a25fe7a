// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Safe Rust without a library: arrays split off the frame, so that each length is checked once and nothing can panic.

use super::reading;
use crate::{
    checksum::{Change, Sum},
    contract::{About, FiveTuple, Library, Rejected, Rule, Way},
};

/// Safe Rust by hand.
#[derive(Debug)]
pub struct SafeRust;

/// The headers of Ethernet and IPv4 without options.
type Headers = [u8; 34];

const UDP: u8 = 17;
const FRAGMENT_OFFSET: u16 = 0x1fff;
const MORE_FRAGMENTS: u16 = 0x2000;

impl Library for SafeRust {
    const NAME: &'static str = "safe-rust";
    const WAY: Way = Way::ByHand;
    const ABOUT: About = About {
        package: "",
        licence: "BSD-3-Clause",
        no_std: true,
        note: "by hand: split_first_chunk_mut, no unsafe code, no panics",
    };

    #[inline(always)]
    fn w1(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let headers = frame.first_chunk_mut::<34>().ok_or(Rejected)?;
        if !is_ipv4(headers) {
            return Err(Rejected);
        }
        write(headers, rule);
        Ok(())
    }

    #[inline(always)]
    fn w2(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (headers, rest) = frame.split_first_chunk_mut().ok_or(Rejected)?;
        let (_, payload) = body(headers, rest).ok_or(Rejected)?;
        let change = Change::of(destination(headers), rule.address);
        if begins_with_udp(headers) {
            let (udp, data) = payload.split_first_chunk_mut::<8>().ok_or(Rejected)?;
            let length = length(udp);
            // A length below that of the header wraps round, and is longer than any data: what fits is right, and
            // that is one comparison.
            if length.wrapping_sub(8) > data.len() && (length < 8 || fragment(headers) & MORE_FRAGMENTS == 0) {
                return Err(Rejected);
            }
            let checksum = change.update_udp([udp[6], udp[7]]);
            udp[6..].copy_from_slice(&checksum);
        }
        [headers[24], headers[25]] = change.update([headers[24], headers[25]]);
        write(headers, rule);
        Ok(())
    }

    #[inline(always)]
    fn w3(frame: &mut [u8], rule: &Rule) -> Result<(), Rejected> {
        let (headers, rest) = frame.split_first_chunk_mut().ok_or(Rejected)?;
        let (options, payload) = body(headers, rest).ok_or(Rejected)?;
        if fragment(headers) & (FRAGMENT_OFFSET | MORE_FRAGMENTS) != 0 {
            return Err(Rejected);
        }
        let addresses = Sum::new().double_word(source(headers)).double_word(rule.address);
        if headers[23] == UDP {
            let (udp, data) = payload.split_first_chunk_mut::<8>().ok_or(Rejected)?;
            // A length below that of the header wraps round, and is longer than any data.
            let data = data.get(..length(udp).wrapping_sub(8)).ok_or(Rejected)?;
            if [udp[6], udp[7]] != [0, 0] {
                // The length is there twice: in the pseudo-header too.
                let length = [udp[4], udp[5]];
                let sum = addresses.word([0, UDP]).word(length).word(length);
                let sum = sum.double_word([udp[0], udp[1], udp[2], udp[3]]).bytes(data);
                [udp[6], udp[7]] = sum.checksum_udp();
            }
        }
        // All of the header but its checksum.
        let sum = addresses
            .double_word([headers[14], headers[15], headers[16], headers[17]])
            .double_word([headers[18], headers[19], headers[20], headers[21]])
            .word([headers[22], headers[23]])
            .bytes(options);
        [headers[24], headers[25]] = sum.checksum();
        write(headers, rule);
        Ok(())
    }

    #[inline(always)]
    fn w4(frame: &[u8]) -> Result<FiveTuple, Rejected> {
        reading::safe_rust::five_tuple(frame)
    }
}

/// Untagged, with the ethertype of IPv4.
#[inline(always)]
fn is_ipv4(headers: &Headers) -> bool {
    [headers[12], headers[13]] == [0x08, 0x00]
}

/// The options and the payload of a well-formed IPv4 packet, of which `rest` is what lies behind the fixed headers.
#[inline(always)]
fn body<'a>(headers: &Headers, rest: &'a mut [u8]) -> Option<(&'a mut [u8], &'a mut [u8])> {
    // Version 4 and five double words or more are one range of values.
    if !is_ipv4(headers) || !(0x45..=0x4f).contains(&headers[14]) {
        return None;
    }
    let options = usize::from(headers[14] & 0x0f) * 4 - 20;
    let total = usize::from(u16::from_be_bytes([headers[16], headers[17]]));
    // A total length below 20 wraps round, and is longer than any frame.
    rest.get_mut(..total.wrapping_sub(20))?.split_at_mut_checked(options)
}

/// A field of that length at that place: read at once, not byte by byte.
#[inline(always)]
fn field<const AT: usize, const LENGTH: usize>(headers: &Headers) -> [u8; LENGTH] {
    let mut field = [0; LENGTH];
    field.copy_from_slice(&headers[AT..AT + LENGTH]);
    field
}

/// The protocol is UDP, at fragment offset 0: two of four bytes that one comparison looks at.
#[inline(always)]
fn begins_with_udp(headers: &Headers) -> bool {
    let mask = u32::from(FRAGMENT_OFFSET) << 16 | 0xff;
    u32::from_be_bytes(field::<20, 4>(headers)) & mask == u32::from(UDP)
}

#[inline(always)]
fn fragment(headers: &Headers) -> u16 {
    u16::from_be_bytes([headers[20], headers[21]])
}

#[inline(always)]
fn source(headers: &Headers) -> [u8; 4] {
    [headers[26], headers[27], headers[28], headers[29]]
}

#[inline(always)]
fn destination(headers: &Headers) -> [u8; 4] {
    [headers[30], headers[31], headers[32], headers[33]]
}

/// What a UDP header says is the length of the datagram.
#[inline(always)]
fn length(udp: &[u8; 8]) -> usize {
    usize::from(u16::from_be_bytes([udp[4], udp[5]]))
}

#[inline(always)]
fn write(headers: &mut Headers, rule: &Rule) {
    // Byte by byte, the compiler sees that both addresses are neighbours in the rule as in the frame.
    let [a, b, c, d, e, f] = rule.destination;
    let [g, h, i, j, k, l] = rule.source;
    headers[..12].copy_from_slice(&[a, b, c, d, e, f, g, h, i, j, k, l]);
    headers[30..].copy_from_slice(&rule.address);
}
