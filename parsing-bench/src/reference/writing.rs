// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The reference of the workloads that rewrite.
//!
//! | | W1 | W2 | W3 |
//! |---|---|---|---|
//! | shorter than 34 bytes, or an ethertype other than 0x0800 (a tag is one) | reject | reject | reject |
//! | IPv4 header malformed: version, header length, total length | either | reject | reject |
//! | IPv4 fragments | accept | accept | reject |
//! | UDP header malformed, at fragment offset 0 | either | reject | reject |
//! | the header of another transport malformed | either | either | either |
//! | the reserved flag of IPv4 set | either | either | either |
//! | all else | accept | accept | accept |
//!
//! An IPv4 header is malformed if its version is not 4, if it is shorter than five 32-bit words or longer than the total
//! length, or if the total length exceeds the frame. Bytes after the total length are padding. A UDP header is malformed if
//! the IPv4 payload has no room for it, if its length is less than 8, or, unless the packet is a fragment, if its length
//! exceeds the payload. The workloads do not concern other transports, but many libraries parse them. A packet that is not
//! a fragment may therefore be rejected if its payload is shorter than 20 bytes or the data offset for TCP, or shorter than
//! 8 bytes, an ICMP time stamp or an IGMP query for ICMP, ICMPv6 and IGMP. So may any packet with an authentication header:
//! all of these may follow it, and some libraries parse it in fragments too. The reserved flag must be zero (RFC 791), and
//! some libraries' headers cannot hold it.
//!
//! W1 writes the three addresses and no checksum. W2 updates the checksum of the IPv4 header and, at fragment offset 0,
//! that of UDP by RFC 1624, equation 3; neither is verified before. W3 recomputes both. A UDP checksum of 0, which means no
//! checksum, stays 0; a computed 0 is written as 0xffff. The TCP checksum also covers the destination address, but the
//! workloads leave TCP and all other protocols above IPv4 unchanged.

use super::{Expected, Rewritten};
use crate::contract::Rule;

const IPV4: usize = 14;
const ICMP: u8 = 1;
const IGMP: u8 = 2;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;
const AUTHENTICATION: u8 = 51;
/// Types of messages that have a length of their own: ICMP's two time stamps, and IGMP's query.
const TIME_STAMPS: [u8; 2] = [13, 14];
const QUERY: u8 = 0x11;

/// The fields of an IPv4 packet that lies within its frame.
#[derive(Clone, Copy, Debug)]
struct Packet {
    header_length: usize,
    total_length: usize,
    protocol: u8,
    fragment_offset: u16,
    more_fragments: bool,
    reserved_flag: bool,
}

impl Packet {
    fn is_fragment(self) -> bool {
        self.fragment_offset != 0 || self.more_fragments
    }

    fn payload(self, frame: &[u8]) -> &[u8] {
        &frame[IPV4 + self.header_length..IPV4 + self.total_length]
    }
}

/// The required result of [`Workload::W1`](crate::contract::Workload::W1).
pub fn w1(frame: &[u8], rule: &Rule) -> Rewritten {
    if !has_ipv4(frame) {
        return Expected::Reject;
    }
    let mut bytes = frame.to_vec();
    write_addresses(&mut bytes, rule);
    match packet(frame) {
        Some(packet) if udp_is_well_formed(frame, packet) && is_whole(frame, packet) => Expected::Accept(bytes),
        _ => Expected::Either(bytes),
    }
}

/// The required result of [`Workload::W2`](crate::contract::Workload::W2).
pub fn w2(frame: &[u8], rule: &Rule) -> Rewritten {
    let Some(packet) = packet(frame) else { return Expected::Reject };
    if !udp_is_well_formed(frame, packet) {
        return Expected::Reject;
    }
    let mut bytes = frame.to_vec();
    let checksum = updated(read(frame, IPV4 + 10), frame, rule);
    store(&mut bytes, IPV4 + 10, checksum);
    if packet.protocol == UDP && packet.fragment_offset == 0 {
        let place = IPV4 + packet.header_length + 6;
        let checksum = read(frame, place);
        if checksum != 0 {
            store(&mut bytes, place, never_zero(updated(checksum, frame, rule)));
        }
    }
    write_addresses(&mut bytes, rule);
    if is_whole(frame, packet) { Expected::Accept(bytes) } else { Expected::Either(bytes) }
}

/// The required result of [`Workload::W3`](crate::contract::Workload::W3).
pub fn w3(frame: &[u8], rule: &Rule) -> Rewritten {
    let Some(packet) = packet(frame) else { return Expected::Reject };
    if packet.is_fragment() || !udp_is_well_formed(frame, packet) {
        return Expected::Reject;
    }
    let mut bytes = frame.to_vec();
    write_addresses(&mut bytes, rule);
    store(&mut bytes, IPV4 + 10, 0);
    let checksum = checksum_of(&bytes[IPV4..IPV4 + packet.header_length]);
    store(&mut bytes, IPV4 + 10, checksum);
    let udp = IPV4 + packet.header_length;
    if packet.protocol == UDP && read(frame, udp + 6) != 0 {
        let length = read(frame, udp + 4);
        store(&mut bytes, udp + 6, 0);
        // The pseudo-header of RFC 768: both addresses, a zero byte, the protocol, the length of the datagram.
        let mut summed = bytes[IPV4 + 12..IPV4 + 20].to_vec();
        summed.extend([0, UDP]);
        summed.extend(length.to_be_bytes());
        summed.extend(&bytes[udp..udp + usize::from(length)]);
        store(&mut bytes, udp + 6, never_zero(checksum_of(&summed)));
    }
    if is_whole(frame, packet) { Expected::Accept(bytes) } else { Expected::Either(bytes) }
}

/// Whether the frame has room for the headers of Ethernet and IPv4, and the ethertype is IPv4.
fn has_ipv4(frame: &[u8]) -> bool {
    frame.len() >= 34 && frame[12] == 0x08 && frame[13] == 0x00
}

/// The IPv4 packet in a frame, if its header is well-formed.
fn packet(frame: &[u8]) -> Option<Packet> {
    if !has_ipv4(frame) || frame[IPV4] >> 4 != 4 {
        return None;
    }
    let header_length = usize::from(frame[IPV4] & 0x0f) * 4;
    let total_length = usize::from(read(frame, IPV4 + 2));
    if header_length < 20 || total_length < header_length || frame.len() - IPV4 < total_length {
        return None;
    }
    let fragment = read(frame, IPV4 + 6);
    Some(Packet {
        header_length,
        total_length,
        protocol: frame[IPV4 + 9],
        fragment_offset: fragment & 0x1fff,
        more_fragments: fragment & 0x2000 != 0,
        reserved_flag: fragment & 0x8000 != 0,
    })
}

/// Whether a UDP header, if the packet begins with one, is well-formed.
fn udp_is_well_formed(frame: &[u8], packet: Packet) -> bool {
    if packet.protocol != UDP || packet.fragment_offset != 0 {
        return true;
    }
    let payload = packet.payload(frame);
    if payload.len() < 8 {
        return false;
    }
    let length = usize::from(read(payload, 4));
    length >= 8 && (packet.more_fragments || length <= payload.len())
}

/// Whether the packet has no reserved flag and no malformed header of another transport.
fn is_whole(frame: &[u8], packet: Packet) -> bool {
    let payload = packet.payload(frame);
    match packet.protocol {
        AUTHENTICATION => false,
        _ if packet.reserved_flag => false,
        _ if packet.is_fragment() => true,
        TCP => payload.len() >= 20 && (20..=payload.len()).contains(&(usize::from(payload[12] >> 4) * 4)),
        ICMP if payload.len() >= 8 && TIME_STAMPS.contains(&payload[0]) => payload.len() == 20,
        IGMP if payload.len() > 8 && payload[0] == QUERY => {
            payload.len() >= 12 && payload.len() - 12 >= usize::from(read(payload, 10)) * 4
        }
        ICMP | ICMPV6 | IGMP => payload.len() >= 8,
        _ => true,
    }
}

fn write_addresses(bytes: &mut [u8], rule: &Rule) {
    bytes[0..6].copy_from_slice(&rule.destination);
    bytes[6..12].copy_from_slice(&rule.source);
    bytes[IPV4 + 16..IPV4 + 20].copy_from_slice(&rule.address);
}

/// RFC 1624, equation 3: HC' = ~(~HC + ~m + m'), for both words of the destination address.
fn updated(checksum: u16, frame: &[u8], rule: &Rule) -> u16 {
    let old = [read(frame, IPV4 + 16), read(frame, IPV4 + 18)];
    let new = [read(&rule.address, 0), read(&rule.address, 2)];
    let mut sum = !checksum;
    for word in [!old[0], !old[1], new[0], new[1]] {
        sum = ones_complement(sum, word);
    }
    !sum
}

/// RFC 1071: the complement of the sum of all words, the last of which may lack its second byte.
fn checksum_of(bytes: &[u8]) -> u16 {
    let mut sum = 0;
    for pair in bytes.chunks(2) {
        let second = pair.get(1).copied().unwrap_or(0);
        sum = ones_complement(sum, u16::from_be_bytes([pair[0], second]));
    }
    !sum
}

fn ones_complement(one: u16, other: u16) -> u16 {
    let (sum, carry) = one.overflowing_add(other);
    sum + u16::from(carry)
}

fn never_zero(checksum: u16) -> u16 {
    if checksum == 0 { 0xffff } else { checksum }
}

fn read(bytes: &[u8], place: usize) -> u16 {
    u16::from_be_bytes([bytes[place], bytes[place + 1]])
}

fn store(bytes: &mut [u8], place: usize, value: u16) {
    bytes[place..place + 2].copy_from_slice(&value.to_be_bytes());
}
