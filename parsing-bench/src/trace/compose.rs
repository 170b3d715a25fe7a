// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! One frame of each kind, with random addresses, ports and data.

use super::{kind::Kind, random::Random};
use crate::{
    frames::{
        Ipv4, MORE_FRAGMENTS, echo, ethernet,
        ethertype::{IPV4, IPV6, SERVICE_TAG, TAG},
        fragment, ipv6, options,
        protocol::{DESTINATION_OPTIONS, FRAGMENT, GRE, HOP_BY_HOP, ICMP, ICMPV6, ROUTING, TCP, UDP},
        routing, tcp, udp,
    },
    reference::{Expected, five_tuple},
};

const ESP: u8 = 50;
const OSPF: u8 = 89;
const SCTP: u8 = 132;
const ARP: u16 = 0x0806;
/// Without the frame check sequence.
const SHORTEST: usize = 60;

/// A frame; `size` is the size of its data, if it has data.
pub(super) fn frame(random: &mut Random, kind: Kind, tags: usize, size: usize) -> Vec<u8> {
    let size = if size > 6 { size + random.below(64) } else { size };
    let tags = [&[][..], &[TAG], &[SERVICE_TAG, TAG]][tags];
    let frame = match kind {
        Kind::RandomBytes => nothing(random, size),
        Kind::CutShort => cut_short(random, tags, size),
        Kind::WrongField => wrong_field(random, tags, size),
        Kind::Arp => ethernet(tags, ARP, &arp(random)),
        Kind::OtherEthertype => {
            // A length, MPLS, PPPoE, LLDP.
            let ethertype = random.one_of([0x0026, 0x8847, 0x8864, 0x88cc]);
            ethernet(tags, ethertype, &random.bytes(size))
        }
        _ => of_ip(tags, &packet(random, kind, size)),
    };
    // What was cut short stays so.
    if kind == Kind::CutShort { frame } else { padded(frame) }
}

fn padded(mut frame: Vec<u8>) -> Vec<u8> {
    frame.resize(frame.len().max(SHORTEST), 0);
    frame
}

fn of_ip(tags: &[u16], packet: &[u8]) -> Vec<u8> {
    ethernet(tags, if packet[0] >> 4 == 4 { IPV4 } else { IPV6 }, packet)
}

fn packet(random: &mut Random, kind: Kind, size: usize) -> Vec<u8> {
    match kind {
        Kind::Ipv4Tcp => v4(random, TCP, 0, 0, |random| segment(random, size)),
        Kind::Ipv4Udp => v4(random, UDP, 0, 0, |random| datagram(random, size)),
        Kind::Icmp => v4(random, ICMP, 0, 0, |random| echo(8, &random.bytes(size))),
        Kind::Ipv4Options => {
            let (words, protocol) = (1 + random.below(10) as u8, random.one_of([TCP, UDP]));
            v4(random, protocol, words, 0, |random| transport(random, protocol, size))
        }
        Kind::Ipv4FirstFragment => {
            let protocol = random.one_of([TCP, UDP]);
            v4(random, protocol, 0, MORE_FRAGMENTS, |random| first_piece(random, protocol, size))
        }
        Kind::Ipv4LaterFragment => {
            let (protocol, more) = (random.one_of([TCP, UDP]), random.one_of([0, MORE_FRAGMENTS]));
            let offset = 1 + random.below(1000) as u16;
            v4(random, protocol, 0, more | offset, |random| random.bytes(size.next_multiple_of(8)))
        }
        Kind::OtherProtocol => {
            let protocol = random.one_of([GRE, ESP, OSPF, SCTP]);
            let payload = random.bytes(size);
            if random.below(2) == 0 { v4(random, protocol, 0, 0, |_| payload) } else { v6(random, protocol, &payload) }
        }
        Kind::Icmpv6 => {
            let message = echo(128, &random.bytes(size));
            v6(random, ICMPV6, &message)
        }
        Kind::Ipv6Tcp => {
            let segment = segment(random, size);
            v6(random, TCP, &segment)
        }
        Kind::Ipv6Udp => {
            let datagram = datagram(random, size);
            v6(random, UDP, &datagram)
        }
        Kind::Ipv6Extensions => {
            let protocol = random.one_of([TCP, UDP]);
            let transport = transport(random, protocol, size);
            let (first, payload) = behind_extensions(random, protocol, transport);
            v6(random, first, &payload)
        }
        _ => {
            let protocol = random.one_of([TCP, UDP]);
            let payload = match kind {
                Kind::Ipv6FirstFragment => fragment(protocol, 0, true, &first_piece(random, protocol, size)),
                Kind::Ipv6LaterFragment => {
                    let (offset, more) = (1 + random.below(1000) as u16, random.below(2) == 0);
                    fragment(protocol, offset, more, &random.bytes(size.next_multiple_of(8)))
                }
                _ => fragment(protocol, 0, false, &transport(random, protocol, size)),
            };
            v6(random, FRAGMENT, &payload)
        }
    }
}

fn v4(
    random: &mut Random,
    protocol: u8,
    options: u8,
    fragment: u16,
    payload: impl FnOnce(&mut Random) -> Vec<u8>,
) -> Vec<u8> {
    let mut ip = Ipv4::new(protocol).options(options).fragment(fragment);
    (ip.source, ip.destination) = (random.array(), random.array());
    ip.with(&payload(random))
}

fn v6(random: &mut Random, next: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = ipv6(next, payload);
    packet[8..40].copy_from_slice(&random.array::<32>());
    packet
}

fn transport(random: &mut Random, protocol: u8, size: usize) -> Vec<u8> {
    if protocol == TCP { segment(random, size) } else { datagram(random, size) }
}

/// TCP, often with options, like SYNs and segments with time stamps.
fn segment(random: &mut Random, size: usize) -> Vec<u8> {
    let mut segment = tcp(random.one_of([0, 0, 3, 5]), &random.bytes(size));
    segment[..4].copy_from_slice(&random.array::<4>());
    segment
}

fn datagram(random: &mut Random, size: usize) -> Vec<u8> {
    let mut datagram = udp(&random.bytes(size));
    datagram[..4].copy_from_slice(&random.array::<4>());
    datagram
}

/// The beginning of a longer datagram; for UDP, the length says so.
fn first_piece(random: &mut Random, protocol: u8, size: usize) -> Vec<u8> {
    let mut piece = transport(random, protocol, size.next_multiple_of(8) + 1000);
    piece.truncate(size.next_multiple_of(8) + 40);
    piece
}

/// Extension headers in the order that RFC 8200 recommends.
fn behind_extensions(random: &mut Random, protocol: u8, payload: Vec<u8>) -> (u8, Vec<u8>) {
    let chain = random.one_of([
        &[HOP_BY_HOP][..],
        &[DESTINATION_OPTIONS],
        &[ROUTING],
        &[HOP_BY_HOP, DESTINATION_OPTIONS],
        &[HOP_BY_HOP, DESTINATION_OPTIONS, ROUTING, DESTINATION_OPTIONS],
    ]);
    let mut next = protocol;
    let mut bytes = payload;
    for header in chain.iter().rev() {
        bytes = match *header {
            ROUTING => routing(next, &bytes),
            _ => options(next, 1 + random.below(3) as u8, &bytes),
        };
        next = *header;
    }
    (next, bytes)
}

fn arp(random: &mut Random) -> Vec<u8> {
    let mut request = vec![0, 1, 0x08, 0x00, 6, 4, 0, 1];
    request.extend(random.bytes(20));
    request
}

/// Bytes that are not a valid frame, not even by chance.
fn nothing(random: &mut Random, size: usize) -> Vec<u8> {
    loop {
        let bytes = padded(random.bytes(size + 14));
        if five_tuple(&bytes) == Expected::Reject {
            return bytes;
        }
    }
}

/// One of the frequent kinds.
fn ordinary(random: &mut Random, size: usize) -> Vec<u8> {
    let kind = random.one_of([Kind::Ipv4Tcp, Kind::Ipv4Udp, Kind::Ipv6Tcp, Kind::Ipv6Udp]);
    packet(random, kind, size)
}

fn cut_short(random: &mut Random, tags: &[u16], size: usize) -> Vec<u8> {
    let mut frame = of_ip(tags, &ordinary(random, size));
    // Half of them in the headers.
    let reach = random.one_of([frame.len(), frame.len().min(14 + 4 * tags.len() + 60)]);
    frame.truncate(1 + random.below(reach - 1));
    frame
}

fn wrong_field(random: &mut Random, tags: &[u16], size: usize) -> Vec<u8> {
    let mut packet = ordinary(random, size);
    let is_v4 = packet[0] >> 4 == 4;
    let (protocol, transport) = if is_v4 { (packet[9], 20) } else { (packet[6], 40) };
    let length = if is_v4 { 2 } else { 4 };
    let tags = match random.below(5) {
        // Another version, which no ethertype has.
        0 => {
            packet[0] ^= 0x80;
            tags
        }
        // For IPv4 a header that is too short; for IPv6 a payload that ends in the transport's header.
        1 if is_v4 => {
            packet[0] = 0x40 | random.below(5) as u8;
            tags
        }
        1 => {
            packet[length..length + 2].copy_from_slice(&7_u16.to_be_bytes());
            tags
        }
        // More than there is.
        2 => {
            packet[length..length + 2].copy_from_slice(&(0x8000 | random.number() as u16).to_be_bytes());
            tags
        }
        3 if protocol == TCP => {
            packet[transport + 12] = (random.below(5) as u8) << 4;
            tags
        }
        3 => {
            packet[transport + 4..transport + 6].copy_from_slice(&random.one_of([7_u16, 0xffff]).to_be_bytes());
            tags
        }
        _ => &[SERVICE_TAG, TAG, TAG],
    };
    of_ip(tags, &packet)
}
