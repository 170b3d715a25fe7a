// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The test frames: Ethernet, IPv4, UDP, and a payload that identifies the frame.
//!
//! | bytes | what | varies |
//! |---|---|---|
//! | 0..12 | destination and source MAC address | forwarders rewrite them |
//! | 12..24 | Ethertype; IPv4 up to the protocol | no |
//! | 24..34 | IPv4 checksum, source and destination address | yes |
//! | 34..42 | UDP ports, length, checksum | yes |
//! | 42..46 | magic number, session, stream | no |
//! | 46..60 | sequence number (48 bits), time stamp (64 bits) | yes |
//! | 60.. | a fixed pattern | no |
//!
//! VLAN tags come between bytes 11 and 12, and so does a VXLAN tunnel, which moves the rest: the head of such a frame, 60
//! bytes too, begins later, and what comes before its byte 12 depends on the length alone ([`Format`]). In an IPv6 frame
//! the head begins 20 bytes later: bytes 12..18 are then the end of the source address, 18..34 the destination.
//!
//! All fields are in network byte order; there is no FCS. Bytes 12..60 of the head are handled as six 64-bit words: the
//! sender writes them, and the receiver computes the expected words and compares, which detects a change of any byte. A checksum is not
//! computed over the frame but derived from the sums of its constant parts (RFC 1071, section 2). In a [`Series`], words and
//! checksums are derived from those of the frame before. The pattern of a shorter frame is a prefix of that of a longer one.

mod checksum;
mod format;
mod mixture;
mod series;

use crate::addresses::Fields;
use checksum::{sum_of_time, udp_checksum};
use dpdk_rs::MacAddr;
use format::{HOPS, UDP};

pub(crate) use checksum::{checksum, sum_of};
pub(crate) use format::{Format, HEAD_LEN, Ipv6, LEAST_LEN_MAX, Macs, TUNNEL_ENDS};
pub(crate) use mixture::Mixture;
pub(crate) use series::Series;

/// Bytes of FCS, which sizes count and memory does not hold.
pub(crate) const FCS_LEN: usize = 4;

/// The sequence number has 48 bits.
const SEQUENCE_MASK: u64 = (1 << 48) - 1;
const MAGIC: u16 = 0x6c32;
/// Set in the stream of probes; streams are numbered from 0.
const PROBE: u8 = 0x80;
const WORDS_AT: usize = 12;
const ETHERNET_LEN: usize = 14;
const IPV4_LEN: usize = 20;

/// Ethertype IPv4; version 4 with 5 words of header, no ToS.
const ETHERTYPE_VERSION: u64 = 0x0800_4500;
/// Do not fragment; time to live, protocol.
const FRAGMENT: u64 = 0x4000;
const TTL_PROTOCOL: u64 = (HOPS as u64) << 8 | UDP as u64;

/// The bytes 12..60 as words in network byte order.
type Words = [u64; 6];

/// The identity of a frame, read from its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub(crate) sequence: u64,
    pub(crate) time: u64,
}

/// The frames of one stream.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    /// The bytes before the words, of which the head has the last.
    before: Vec<u8>,
    start: [u8; WORDS_AT],
    ipv6: bool,
    first_word: u64,
    /// What is constant in the second word, as a number.
    fixed: u64,
    ip_sum: u64,
    udp_sum: u64,
    udp_len: u64,
    identity: u64,
    len: usize,
    pattern: Vec<u8>,
}

impl Template {
    /// Frames of `len` bytes, at least [`Format::least_len`] and at most 64 KiB.
    pub(crate) fn new(len: usize, format: &Format, macs: Macs, session: u8, stream: u8) -> Self {
        let before = format.before_words(macs, len);
        let start = before.last_chunk().copied().unwrap_or_default();
        let head_and_pattern = len + WORDS_AT - before.len();
        let ip_len = (head_and_pattern - ETHERNET_LEN) as u64;
        // As many bytes from the end, whatever the version.
        let udp_len = ip_len - IPV4_LEN as u64;
        // This pattern does not repeat at a power of two, as cache lines and buffers do.
        let pattern: Vec<u8> = (0..head_and_pattern - HEAD_LEN).map(|index| (index % 251) as u8 ^ 0x5a).collect();
        let identity = u64::from(session) << 56 | u64::from(stream) << 48;
        let [first_word, fixed] = match format.ipv6 {
            None => [ETHERTYPE_VERSION << 32 | ip_len << 16, FRAGMENT << 48 | TTL_PROTOCOL << 32],
            Some(ipv6) => {
                let [first, second] = ipv6.words();
                // Added to it is the checksum of a sum of 0, since IPv6 has none.
                [first, second.wrapping_sub(checksum(0) << 16)]
            }
        };
        let addresses = format.ipv6.map_or(0, |ipv6| sum_of(&ipv6.src) + sum_of(&ipv6.dst));
        Self {
            before,
            start,
            ipv6: format.ipv6.is_some(),
            first_word: first_word.to_be(),
            fixed,
            ip_sum: (ETHERTYPE_VERSION & 0xffff) + ip_len + FRAGMENT + TTL_PROTOCOL,
            // The pseudo header contains the protocol and the length again.
            udp_sum: 2 * udp_len + u64::from(UDP) + u64::from(MAGIC) + (identity >> 48) + addresses + sum_of(&pattern),
            udp_len,
            identity,
            len,
            pattern,
        }
    }

    /// The same frames as probes, which are sent before a run and not counted.
    pub(crate) fn probe(&self) -> Self {
        let (identity, udp_sum) = (self.identity | u64::from(PROBE) << 48, self.udp_sum + u64::from(PROBE));
        Self { identity, udp_sum, ..self.clone() }
    }

    /// The length of each frame, without FCS.
    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// Where the head begins: before it are more headers, or MAC addresses that these push out of it.
    #[inline]
    pub(crate) const fn head_at(&self) -> usize {
        self.before.len() - WORDS_AT
    }

    /// The bytes before the head; none without more headers than Ethernet, IPv4 and UDP.
    #[inline]
    pub(crate) fn before_head(&self) -> &[u8] {
        self.before.split_at(self.head_at()).0
    }

    /// Whether `frame` has the expected bytes between the MAC addresses and the words.
    #[inline]
    pub(crate) fn headers_match(&self, frame: &[u8]) -> bool {
        frame.get(WORDS_AT..self.before.len()) == self.before.get(WORDS_AT..)
    }

    /// The sum for the IPv4 checksum; with IPv6, 0. `MORE`: whether the head may begin later than the frame.
    #[inline(always)]
    const fn ip_sum<const MORE: bool>(&self, fields: Fields) -> u64 {
        if MORE && self.ipv6 {
            return 0;
        }
        // 2^32 is 1 modulo 0xffff, as 2^16 is: halves of any even alignment may be added up before folding.
        self.ip_sum + fields.src_ip as u64 + fields.dst_ip as u64
    }

    /// The sum for the UDP checksum, without the sequence number and the time.
    #[inline(always)]
    const fn udp_sum(&self, fields: Fields) -> u64 {
        let ports = fields.src_udp as u64 + fields.dst_udp as u64;
        self.udp_sum + fields.src_ip as u64 + fields.dst_ip as u64 + ports
    }

    /// The words that hold fields, as numbers, without checksums.
    #[inline(always)]
    const fn words_of_fields(&self, fields: Fields) -> [u64; 3] {
        let [src, dst] = [fields.src_ip as u64, fields.dst_ip as u64];
        [
            self.fixed | src >> 16,
            src << 48 | dst << 16 | fields.src_udp as u64,
            (fields.dst_udp as u64) << 48 | self.udp_len << 32 | MAGIC as u64,
        ]
    }

    #[inline(always)]
    const fn words<const MORE: bool>(&self, fields: Fields, stamp: Stamp) -> Words {
        let ip_checksum = checksum(self.ip_sum::<MORE>(fields));
        let udp_checksum = udp_checksum(self.udp_sum(fields) + stamp.sequence + sum_of_time(stamp.time));
        let [fragment, addresses, ports] = self.words_of_fields(fields);
        [
            self.first_word,
            fragment.wrapping_add(ip_checksum << 16).to_be(),
            addresses.to_be(),
            (ports | udp_checksum << 16).to_be(),
            (self.identity | stamp.sequence).to_be(),
            stamp.time.to_be(),
        ]
    }

    /// Writes the head of any frame.
    #[inline]
    pub(crate) fn write_head<const MORE: bool>(&self, head: &mut [u8; HEAD_LEN], fields: Fields, stamp: Stamp) {
        head.split_at_mut(WORDS_AT).0.copy_from_slice(&self.start);
        for (place, word) in
            head.split_at_mut(WORDS_AT).1.as_chunks_mut::<8>().0.iter_mut().zip(self.words::<MORE>(fields, stamp))
        {
            *place = word.to_ne_bytes();
        }
    }

    /// The bytes after the head.
    #[inline]
    pub(crate) fn pattern(&self) -> &[u8] {
        &self.pattern
    }

    /// The sequence number and time of a frame; `None` if it does not belong to this stream and session.
    #[inline]
    pub(crate) fn identify(&self, head: &[u8; HEAD_LEN]) -> Option<Stamp> {
        let [_, _, _, magic, identity, time] = words_of(head);
        let ours = magic as u16 == MAGIC && identity & !SEQUENCE_MASK == self.identity;
        ours.then_some(Stamp { sequence: identity & SEQUENCE_MASK, time })
    }

    /// Whether bytes 12..60 of the head are the expected ones.
    #[inline]
    pub(crate) fn head_matches<const MORE: bool>(&self, head: &[u8; HEAD_LEN], fields: Fields, stamp: Stamp) -> bool {
        are_words_of(head, self.words::<MORE>(fields, stamp))
    }
}

/// Whether bytes 12..60 are these words.
#[inline(always)]
fn are_words_of(head: &[u8; HEAD_LEN], words: Words) -> bool {
    let found = words_of(head).map(u64::to_be);
    words.iter().zip(found).fold(0, |changed, (expected, found)| changed | (expected ^ found)) == 0
}

/// Bytes 12..60 as numbers.
#[inline(always)]
fn words_of(head: &[u8; HEAD_LEN]) -> Words {
    let mut words = [0; 6];
    for (word, place) in words.iter_mut().zip(head.split_at(WORDS_AT).1.as_chunks::<8>().0) {
        *word = u64::from_be_bytes(*place);
    }
    words
}

/// The MAC addresses that received frames must have; `None` is not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExpectedMacs {
    expected: u128,
    mask: u128,
}

impl ExpectedMacs {
    pub(crate) fn new(dst: Option<MacAddr>, src: Option<MacAddr>) -> Self {
        let mut bytes = [0; 16];
        let mut mask = [0; 16];
        for (mac, at) in [(dst, 0), (src, 6)] {
            let Some(mac) = mac else { continue };
            let places = bytes.iter_mut().zip(&mut mask).skip(at);
            for ((byte, mask), octet) in places.zip(mac.octets()) {
                (*byte, *mask) = (octet, 0xff);
            }
        }
        Self { expected: u128::from_ne_bytes(bytes), mask: u128::from_ne_bytes(mask) }
    }

    /// Whether anything is checked at all.
    pub(crate) const fn is_checked(self) -> bool {
        self.mask != 0
    }

    /// Whether a frame that begins with these bytes has the addresses.
    #[inline]
    pub(crate) fn matches(self, start: &[u8; HEAD_LEN]) -> bool {
        let first = start.first_chunk::<16>().map_or(0, |bytes| u128::from_ne_bytes(*bytes));
        (first ^ self.expected) & self.mask == 0
    }
}

#[cfg(test)]
mod tests;
