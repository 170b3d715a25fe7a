// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What peers know of their connections, and what every frame of the stack must be like.

use crate::frames::{ACK, PEER, RST, STACK, STACK_MAC, SYN, Segment};
use crate::text::{is_text, text};
use dpdk_rs_fuzz::Reader;
use smoltcp::wire::{EthernetFrame, EthernetProtocol, Icmpv4Packet, IpProtocol, Ipv4Packet, TcpPacket, UdpPacket};
use std::collections::BTreeMap;

/// The longest packet of the stack.
pub(crate) const MTU: usize = 1_500;

/// One connection, by the peer's port.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The port of the stack.
    port: u16,
    /// The peer's next number, and what it has received.
    seq: u32,
    ack: Option<u32>,
    /// The first numbers of text that SYNs of the peer have said, and those of the stack.
    pub(crate) firsts: Vec<u32>,
    stack_firsts: Vec<u32>,
}

pub(crate) type Peers = BTreeMap<u16, Known>;

/// A segment of a peer: right, or a little wrong. Its text is that of its numbers.
pub(crate) fn segment(reader: &mut Reader<'_>, peers: &mut Peers) -> Vec<u8> {
    let choice = reader.byte();
    let known = peers.len();
    let picked = peers.keys().copied().nth(usize::from(choice & 15).checked_rem(known).unwrap_or(0));
    let (port, stack_port) = match picked.filter(|_| choice & 0x30 != 0) {
        Some(port) => (port, peers.get(&port).map_or(80, |known| known.port)),
        // The peer's port says which listener it is for.
        None => (40_000 + u16::from(choice & 7), 80 + u16::from(choice & 1)),
    };
    let known = peers.entry(port).or_insert_with(|| Known { port: stack_port, ..Known::default() });
    let (kind, how) = (reader.byte(), reader.byte());
    let mut flags = match kind & 15 {
        0..=5 => ACK,
        6..=8 => ACK | 8,
        9..=10 => ACK | crate::frames::FIN,
        11 => RST,
        12 => SYN,
        13 => SYN | ACK,
        14 => RST | ACK,
        _ => reader.byte(),
    };
    if known.ack.is_none() && choice & 0xc0 != 0 {
        flags = SYN;
    }
    let len = match kind >> 4 {
        0..=7 => 0,
        8..=11 => reader.below(256),
        12 => 1,
        _ => 1_400,
    };
    let offset = match how & 15 {
        0..=8 => 0,
        9 => 1,
        10 => u32::from(reader.byte()),
        11 => u32::from(reader.u16()),
        12 => 65_535,
        13 => 1 << 30,
        14 => 1 << 31,
        _ => reader.u64() as u32,
    };
    let offset = if how & 16 == 0 { offset } else { offset.wrapping_neg() };
    let (mut seq, mut ack) = (known.seq, known.ack.unwrap_or_default());
    match how >> 5 & 3 {
        0 | 1 => seq = seq.wrapping_add(offset),
        2 => ack = ack.wrapping_add(offset),
        _ => (),
    }
    let window = match how >> 7 {
        0 => 50_000,
        _ => [0, 1, 1_000, 65_535].get(reader.below(4)).copied().unwrap_or_default(),
    };
    let options_len = if choice & 0xc0 == 0xc0 { reader.below(41) } else { 0 };
    let options = reader.bytes(options_len);
    let urgent = if flags & 32 != 0 { reader.u16() } else { 0 };
    let syn = u32::from(flags & SYN != 0);
    let text = text(seq.wrapping_add(syn), len);
    if syn > 0 {
        known.firsts.push(seq.wrapping_add(1));
    }
    known.seq = seq.wrapping_add(len as u32 + syn + u32::from(flags & 1));
    Segment { ports: (port, stack_port), seq, ack, flags, window, urgent, options, text: &text }.frame()
}

/// Looks at a frame of the stack. `forgets` says whether the peer forgets what it has got, and `is_lossy` whether frames were lost.
///
/// # Panics
/// If it is wrong.
pub(crate) fn look(frame: &[u8], peers: &mut Peers, forgets: bool, is_lossy: bool) {
    let ethernet = EthernetFrame::new_checked(frame).expect("a frame has a header");
    assert_eq!(ethernet.src_addr().0, STACK_MAC);
    if ethernet.ethertype() == EthernetProtocol::Arp {
        assert_eq!(frame.len(), 14 + 28);
        return;
    }
    let ip = Ipv4Packet::new_checked(ethernet.payload()).expect("a packet has a header");
    assert!(ip.verify_checksum() && ip.header_len() == 20 && ip.src_addr() == STACK);
    assert_eq!(usize::from(ip.total_len()), frame.len() - 14);
    assert!(usize::from(ip.total_len()) <= MTU);
    let (from, to) = (ip.src_addr().into(), ip.dst_addr().into());
    match ip.next_header() {
        IpProtocol::Tcp => {
            let tcp = TcpPacket::new_checked(ip.payload()).expect("a segment has a header");
            assert!(tcp.verify_checksum(&from, &to));
            if ip.dst_addr() == PEER {
                sent(&tcp, peers, forgets, is_lossy);
            }
        }
        IpProtocol::Udp => {
            let udp = UdpPacket::new_checked(ip.payload()).expect("a datagram has a header");
            assert!(udp.verify_checksum(&from, &to));
        }
        IpProtocol::Icmp => {
            let icmp = Icmpv4Packet::new_checked(ip.payload()).expect("a message has a header");
            assert!(icmp.verify_checksum());
        }
        other => panic!("a packet of protocol {other}"),
    }
}

/// A segment of the stack: its text is what the program has written there.
fn sent(tcp: &TcpPacket<&[u8]>, peers: &mut Peers, forgets: bool, is_lossy: bool) {
    let (port, stack_port) = (tcp.dst_port(), tcp.src_port());
    let known = peers.entry(port).or_insert_with(|| Known { port: stack_port, ..Known::default() });
    if tcp.rst() || known.port != stack_port {
        return;
    }
    let seq = tcp.seq_number().0.cast_unsigned();
    if tcp.syn() {
        known.stack_firsts.push(seq.wrapping_add(1));
        assert!(tcp.payload().is_empty());
    }
    let is_written = |first: &u32| is_text(seq.wrapping_sub(*first), tcp.payload());
    // An octet before the next number asks for a sign of life.
    let is_keep_alive = tcp.payload() == [0];
    assert!(
        is_lossy || tcp.payload().is_empty() || is_keep_alive || known.stack_firsts.iter().any(is_written),
        "nobody has written this: {tcp}, known {known:?}"
    );
    if !forgets {
        if tcp.ack() && known.ack.is_none() {
            known.seq = tcp.ack_number().0.cast_unsigned();
        }
        let end = seq.wrapping_add(tcp.segment_len() as u32);
        known.ack = Some(end);
    }
}
