// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! W4: which frames have a 5-tuple, and its value.
//!
//! # What is accepted
//!
//! - **Link.** Ethernet II, with up to two tags (0x8100 and 0x88a8, in any order), then IPv4 (0x0800) or IPv6 (0x86dd).
//!   A third tag, any other ethertype and IEEE 802.3 lengths are rejected. Bytes after the IP packet are padding.
//! - **IPv4.** Version 4, IHL of 5 or more, the header within the total length, the total length within the frame. The
//!   checksum is not verified, and options are skipped. The protocol is that of the header.
//! - **IPv6.** Version 6, the payload length within the frame. A payload length of 0 means an empty payload: jumbograms
//!   are not read. The headers hop-by-hop options (0), routing (43), fragment (44) and destination options (60) are
//!   skipped, in any order; a header that extends past the payload rejects the frame. The protocol is the first number
//!   after them, possibly *no next header* (59). The destination is that of the IPv6 header, whatever a routing header
//!   says.
//! - **AH and ESP** (51, 50) are upper layers without ports, in both versions of IP, as in DPDK's `rte_net_skip_ip6_ext`.
//!   Headers after them are not read.
//! - **Fragments.** The first one (offset 0, more fragments) is read like a whole datagram, except that the UDP length may
//!   exceed the payload. It must hold the whole TCP or UDP header: RFC 7112 requires this, and a filter that accepts
//!   others can be deceived (RFC 1858). For later fragments the ports are 0; in IPv6 the chain ends at their fragment
//!   header, whose next header is the protocol. A fragment header with offset 0 and without more fragments (RFC 6946)
//!   changes nothing.
//! - **TCP.** 20 bytes in the IP payload, a data offset of 5 or more, and the header with its options in the payload.
//! - **UDP.** 8 bytes in the IP payload, a length of 8 or more, and within the payload unless the frame is a first
//!   fragment.
//! - **Everything else** has ports 0, and is not parsed.
//!
//! # Either
//!
//! Libraries may reasonably differ on the following frames: they may be rejected, but if a frame is accepted, the tuple
//! must follow the rules above.
//!
//! - The tag 0x9100, which is older than the standard: if accepted, it is read as a tag.
//! - AH as the protocol, in either version: a library that reads AH may stop at a malformed one.
//! - A hop-by-hop header that is not the first one: RFC 8200 requires it to be first, and some libraries stop there.
//! - An IPv6 header that repeats, except destination options before and after a routing header: RFC 8200 wants each once,
//!   and some libraries have room for one of each.
//! - A later IPv6 fragment whose next header is an extension header or AH: some libraries read payload as a header.
//! - In whole datagrams: ICMP and ICMPv6 (1, 58) shorter than 8 bytes, ICMP timestamps of other than 20 bytes, and all of
//!   IGMP (2), whose messages contain counts: some libraries check these before they return a frame.

use super::Expected;
use crate::contract::FiveTuple;
use core::net::{Ipv4Addr, Ipv6Addr};

/// The required result of [`Workload::W4`](crate::contract::Workload::W4).
pub fn five_tuple(frame: &[u8]) -> Expected<FiveTuple> {
    match reading(frame) {
        Some(Reading { tuple, either: false }) => Expected::Accept(tuple),
        Some(Reading { tuple, either: true }) => Expected::Either(tuple),
        None => Expected::Reject,
    }
}

/// The tuple, and whether a library may also reject the frame.
struct Reading {
    tuple: FiveTuple,
    either: bool,
}

fn reading(frame: &[u8]) -> Option<Reading> {
    let mut either = false;
    // Where the next ethertype is.
    let mut at = 12;
    let mut tags = 0;
    loop {
        match word(frame, at)? {
            0x0800 => return ipv4(frame.get(at + 2..)?, either),
            0x86dd => return ipv6(frame.get(at + 2..)?, either),
            tag @ (0x8100 | 0x88a8 | 0x9100) if tags < 2 => {
                either |= tag == 0x9100;
                tags += 1;
                at += 4;
            }
            _ => return None,
        }
    }
}

fn ipv4(packet: &[u8], either: bool) -> Option<Reading> {
    if packet.len() < 20 || byte(packet, 0)? >> 4 != 4 {
        return None;
    }
    let header = usize::from(byte(packet, 0)? & 0xf) * 4;
    let total = usize::from(word(packet, 2)?);
    if header < 20 || header > total || total > packet.len() {
        return None;
    }
    let protocol = byte(packet, 9)?;
    let fragment = Fragment { later: word(packet, 6)? & 0x1fff != 0, more: word(packet, 6)? & 0x2000 != 0 };
    let upper = upper_layer(protocol, packet.get(header..total)?, fragment)?;
    Some(Reading {
        tuple: FiveTuple {
            source: Ipv4Addr::from_octets(packet.get(12..16)?.try_into().ok()?).into(),
            destination: Ipv4Addr::from_octets(packet.get(16..20)?.try_into().ok()?).into(),
            protocol,
            source_port: upper.source_port,
            destination_port: upper.destination_port,
        },
        either: either || upper.either || protocol == 51,
    })
}

fn ipv6(packet: &[u8], either: bool) -> Option<Reading> {
    if packet.len() < 40 || byte(packet, 0)? >> 4 != 6 {
        return None;
    }
    let chain = chain(byte(packet, 6)?, packet.get(40..40 + usize::from(word(packet, 4)?))?)?;
    let upper = upper_layer(chain.protocol, chain.payload, chain.fragment)?;
    Some(Reading {
        tuple: FiveTuple {
            source: Ipv6Addr::from_octets(packet.get(8..24)?.try_into().ok()?).into(),
            destination: Ipv6Addr::from_octets(packet.get(24..40)?.try_into().ok()?).into(),
            protocol: chain.protocol,
            source_port: upper.source_port,
            destination_port: upper.destination_port,
        },
        either: either || chain.either || upper.either || chain.protocol == 51,
    })
}

/// The upper layer, after the extension headers of an IPv6 packet.
struct Chain<'a> {
    protocol: u8,
    payload: &'a [u8],
    fragment: Fragment,
    either: bool,
}

fn chain(first: u8, payload: &[u8]) -> Option<Chain<'_>> {
    let mut protocol = first;
    let mut payload = payload;
    let mut fragment = Fragment::default();
    let mut either = false;
    let mut seen = Vec::new();
    while matches!(protocol, 0 | 43 | 44 | 60) {
        let kind = protocol;
        let length = if kind == 44 { 8 } else { (usize::from(byte(payload, 1)?) + 1) * 8 };
        let header = payload.get(..length)?;
        payload = payload.get(length..)?;
        protocol = byte(header, 0)?;
        either |= is_out_of_place(kind, &seen);
        seen.push(kind);
        if kind == 44 {
            fragment.more |= byte(header, 3)? & 1 != 0;
            if word(header, 2)? & 0xfff8 != 0 {
                fragment.later = true;
                either |= matches!(protocol, 0 | 43 | 44 | 51 | 60);
                break;
            }
        }
    }
    Some(Chain { protocol, payload, fragment, either })
}

/// Whether a header after `seen` repeats, or is hop-by-hop and not the first one.
fn is_out_of_place(kind: u8, seen: &[u8]) -> bool {
    match seen.iter().position(|header| *header == kind) {
        None => kind == 0 && !seen.is_empty(),
        // Destination options before a routing header, and now behind it.
        Some(first) if kind == 60 => {
            let mut since = seen.iter().skip(first + 1);
            seen.iter().filter(|header| **header == 60).count() > 1 || !since.any(|header| *header == 43)
        }
        Some(_) => true,
    }
}

/// Which piece of a datagram a packet holds.
#[derive(Clone, Copy, Default)]
struct Fragment {
    /// Not the first one: there is no header of the upper layer.
    later: bool,
    /// Others follow.
    more: bool,
}

/// The result of reading the upper layer.
struct Upper {
    source_port: u16,
    destination_port: u16,
    either: bool,
}

fn upper_layer(protocol: u8, payload: &[u8], fragment: Fragment) -> Option<Upper> {
    let without = |either| Some(Upper { source_port: 0, destination_port: 0, either });
    if fragment.later {
        return without(false);
    }
    let ports = || Some(Upper { source_port: word(payload, 0)?, destination_port: word(payload, 2)?, either: false });
    match protocol {
        6 => {
            let header = usize::from(byte(payload, 12)? >> 4) * 4;
            if header < 20 || header > payload.len() { None } else { ports() }
        }
        17 => {
            if payload.len() < 8 {
                return None;
            }
            let length = usize::from(word(payload, 4)?);
            if length < 8 || (length > payload.len() && !fragment.more) { None } else { ports() }
        }
        1 | 2 | 58 if !fragment.more => without(may_be_at_fault(protocol, payload)),
        _ => without(false),
    }
}

/// Whether a library that parses ICMP, IGMP and ICMPv6 may find a fault in a message.
fn may_be_at_fault(protocol: u8, message: &[u8]) -> bool {
    let is_timestamp = protocol == 1 && matches!(message.first(), Some(13 | 14));
    protocol == 2 || message.len() < 8 || (is_timestamp && message.len() != 20)
}

fn byte(bytes: &[u8], place: usize) -> Option<u8> {
    bytes.get(place).copied()
}

fn word(bytes: &[u8], place: usize) -> Option<u16> {
    Some(u16::from_be_bytes([byte(bytes, place)?, byte(bytes, place + 1)?]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::IpAddr;

    const UDP: [u8; 8] = [0xc0, 0x01, 0x00, 0x35, 0x00, 0x08, 0x00, 0x00];
    const TCP: [u8; 20] = [0xd0, 0x02, 0x01, 0xbb, 0, 0, 0, 7, 0, 0, 0, 9, 0x50, 0x18, 0x10, 0, 0, 0, 0, 0];

    fn frame(tags: &[u16], packet: &[u8]) -> Vec<u8> {
        let mut frame = vec![2; 12];
        for tag in tags {
            frame.extend(tag.to_be_bytes());
            frame.extend([0, 7]);
        }
        frame.extend(if packet[0] >> 4 == 4 { [0x08, 0x00] } else { [0x86, 0xdd] });
        frame.extend(packet);
        frame
    }

    fn over_ipv4(protocol: u8, fragment: u16, payload: &[u8]) -> Vec<u8> {
        let mut packet = vec![0x45, 0];
        packet.extend((20 + payload.len() as u16).to_be_bytes());
        packet.extend([0, 1]);
        packet.extend(fragment.to_be_bytes());
        packet.extend([64, protocol, 0, 0, 192, 0, 2, 1, 198, 51, 100, 2]);
        packet.extend(payload);
        frame(&[], &packet)
    }

    fn over_ipv6(next: u8, parts: &[&[u8]]) -> Vec<u8> {
        let payload = parts.concat();
        let mut packet = vec![0x60, 0, 0, 0];
        packet.extend((payload.len() as u16).to_be_bytes());
        packet.extend([next, 64]);
        packet.extend([[0x11; 16], [0x22; 16]].concat());
        packet.extend(payload);
        frame(&[], &packet)
    }

    fn extension(next: u8) -> [u8; 8] {
        [next, 0, 1, 4, 0, 0, 0, 0]
    }

    fn fragment(next: u8, field: u16) -> [u8; 8] {
        let [high, low] = field.to_be_bytes();
        [next, 0, high, low, 0, 0, 0, 1]
    }

    /// Protocol and ports, and whether the frame may also be rejected.
    fn read(frame: &[u8]) -> Option<(u8, u16, u16, bool)> {
        let (tuple, either) = match five_tuple(frame) {
            Expected::Accept(tuple) => (tuple, false),
            Expected::Either(tuple) => (tuple, true),
            Expected::Reject => return None,
        };
        Some((tuple.protocol, tuple.source_port, tuple.destination_port, either))
    }

    const OF_UDP: Option<(u8, u16, u16, bool)> = Some((17, 0xc001, 53, false));
    const OF_TCP: Option<(u8, u16, u16, bool)> = Some((6, 0xd002, 443, false));

    #[test]
    fn addresses_are_those_of_the_ip_header() {
        let addresses = |frame: &[u8]| match five_tuple(frame) {
            Expected::Accept(tuple) => Some((tuple.source, tuple.destination)),
            _ => None,
        };
        let v4: (IpAddr, IpAddr) = ([192, 0, 2, 1].into(), [198, 51, 100, 2].into());
        assert_eq!(addresses(&over_ipv4(17, 0, &UDP)), Some(v4));
        assert_eq!(addresses(&over_ipv6(6, &[&TCP])), Some(([0x11; 16].into(), [0x22; 16].into())));
    }

    #[test]
    fn two_tags_are_looked_behind() {
        let packet = over_ipv4(17, 0, &UDP).split_off(14);
        for tags in [&[][..], &[0x8100], &[0x88a8], &[0x88a8, 0x8100], &[0x8100, 0x8100], &[0x8100, 0x88a8]] {
            assert_eq!(read(&frame(tags, &packet)), OF_UDP, "{tags:04x?}");
        }
        assert_eq!(read(&frame(&[0x88a8, 0x8100, 0x8100], &packet)), None);
        assert_eq!(read(&frame(&[0x9100, 0x8100], &packet)), Some((17, 0xc001, 53, true)));
        assert_eq!(read(&frame(&[0x88e5], &packet)), None);
    }

    #[test]
    fn lengths_are_held_to() {
        for whole in [over_ipv4(17, 0, &UDP), over_ipv4(6, 0, &TCP), over_ipv6(60, &[&extension(6), &TCP])] {
            for length in 0..whole.len() {
                assert_eq!(read(&whole[..length]), None, "{length}");
            }
            assert!(read(&[&whole[..], &[0; 9]].concat()).is_some());
        }
        let mut empty = over_ipv6(17, &[&UDP]);
        empty[18..20].fill(0);
        assert_eq!(read(&empty), None);
        empty[20] = 59;
        assert_eq!(read(&empty), Some((59, 0, 0, false)));
    }

    #[test]
    fn transport_headers_are_whole() {
        let with = |place: usize, byte: u8, bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            bytes[place] = byte;
            bytes
        };
        assert_eq!(read(&over_ipv4(6, 0, &with(12, 0x40, &TCP))), None);
        assert_eq!(read(&over_ipv4(6, 0, &with(12, 0x60, &TCP))), None);
        assert_eq!(read(&over_ipv4(6, 0, &with(12, 0x60, &[&TCP[..], &[1; 4]].concat()))), OF_TCP);
        assert_eq!(read(&over_ipv4(17, 0, &with(5, 7, &UDP))), None);
        assert_eq!(read(&over_ipv4(17, 0, &with(5, 9, &UDP))), None);
        assert_eq!(read(&over_ipv4(17, 0x2000, &with(5, 9, &UDP))), OF_UDP);
        assert_eq!(read(&over_ipv4(17, 0x2000, &UDP[..7])), None);
        assert_eq!(read(&over_ipv4(17, 1, &UDP[..7])), Some((17, 0, 0, false)));
        assert_eq!(read(&over_ipv4(132, 0, &UDP)), Some((132, 0, 0, false)));
    }

    #[test]
    fn extension_headers_are_passed_over() {
        let routing = extension(44);
        let chain: [&[u8]; 6] = [&extension(60), &extension(43), &routing, &fragment(60, 0), &extension(6), &TCP];
        assert_eq!(read(&over_ipv6(0, &chain)), OF_TCP);
        assert_eq!(read(&over_ipv6(44, &[&fragment(17, 1), &UDP])), OF_UDP);
        assert_eq!(read(&over_ipv6(44, &[&fragment(17, 8), &UDP])), Some((17, 0, 0, false)));
        // The bits between offset and flag are reserved.
        assert_eq!(read(&over_ipv6(44, &[&fragment(17, 6), &UDP])), OF_UDP);
        let mut long = over_ipv6(60, &[&extension(17), &UDP]);
        long[55] = 2;
        assert_eq!(read(&long), None);
        assert_eq!(read(&over_ipv6(50, &[&UDP])), Some((50, 0, 0, false)));
    }

    #[test]
    fn libraries_may_differ_where_it_is_said() {
        let udp = Some((17, 0xc001, 53, true));
        // Hop-by-hop as the second; one that comes again; destination options twice without a route between, and thrice.
        assert_eq!(read(&over_ipv6(60, &[&extension(0), &extension(17), &UDP])), udp);
        assert_eq!(read(&over_ipv6(43, &[&extension(43), &extension(17), &UDP])), udp);
        assert_eq!(read(&over_ipv6(60, &[&extension(60), &extension(17), &UDP])), udp);
        let twice = [extension(43), extension(60), extension(60), extension(17)].concat();
        assert_eq!(read(&over_ipv6(60, &[&twice, &UDP])), udp);
        assert_eq!(read(&over_ipv6(44, &[&fragment(60, 8), &UDP])), Some((60, 0, 0, true)));
        assert_eq!(read(&over_ipv6(44, &[&fragment(51, 8), &UDP])), Some((51, 0, 0, true)));
        assert_eq!(read(&over_ipv6(51, &[&UDP])), Some((51, 0, 0, true)));
        assert_eq!(read(&over_ipv4(51, 0, &UDP)), Some((51, 0, 0, true)));
        assert_eq!(read(&over_ipv4(1, 0, &[8; 8])), Some((1, 0, 0, false)));
        assert_eq!(read(&over_ipv4(1, 0, &[8; 7])), Some((1, 0, 0, true)));
        assert_eq!(read(&over_ipv4(1, 0x2000, &[8; 7])), Some((1, 0, 0, false)));
        assert_eq!(read(&over_ipv4(1, 0, &[13; 19])), Some((1, 0, 0, true)));
        assert_eq!(read(&over_ipv4(2, 0, &[0x16; 8])), Some((2, 0, 0, true)));
    }
}
