// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

use crate::hosts::other_frame;
use crate::peer::{PEER, Peer, STACK, config, events, peer_socket};
use core::net::SocketAddr;
use dpdk_sockets::{Event, ListenError, SendToError, UdpId};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{Icmpv4DstUnreachable, Icmpv4Packet, Icmpv4Repr, IpProtocol, Ipv4Packet, UdpPacket, UdpRepr};

/// A frame of the peer's port 9.
fn datagram(port: u16, payload: &[u8]) -> Vec<u8> {
    let udp = UdpRepr { src_port: 9, dst_port: port };
    let mut bytes = vec![0; udp.header_len() + payload.len()];
    let fill = |bytes: &mut [u8]| bytes.copy_from_slice(payload);
    let checksums = ChecksumCapabilities::default();
    let mut packet = UdpPacket::new_unchecked(&mut bytes[..]);
    udp.emit(&mut packet, &PEER.into(), &STACK.into(), payload.len(), fill, &checksums);
    other_frame(IpProtocol::Udp, &bytes)
}

fn bound() -> (Peer, UdpId) {
    let mut peer = Peer::new(config());
    let socket = peer.stack.bind_udp(53).unwrap();
    (peer, socket)
}

/// The last frame from the stack that is not ARP.
fn answer(peer: &mut Peer) -> Vec<u8> {
    for _ in 0..3 {
        peer.stack.poll();
        let frames: Vec<_> = peer.stack.wire_mut().from_stack.drain(..).collect();
        for frame in frames {
            if frame[12..14] == [8, 0] {
                return frame;
            }
            peer.stack.wire_mut().to_stack.push_back(crate::peer::arp_packet(smoltcp::wire::ArpOperation::Reply, PEER));
        }
    }
    panic!("no answer");
}

#[test]
fn a_question_and_its_answer() {
    let (mut peer, socket) = bound();
    for question in [&b"first"[..], b"second", b""] {
        peer.stack.wire_mut().to_stack.push_back(datagram(53, question));
    }
    peer.stack.poll();
    assert_eq!(events(&mut peer.stack), [Event::Datagram(socket)]);
    let mut bytes = [0; 3];
    assert_eq!(peer.stack.recv_from(socket, &mut bytes), Ok(Some((5, peer_socket(9)))));
    assert_eq!(&bytes, b"fir");
    assert_eq!(peer.stack.recv_from(socket, &mut [0; 9]), Ok(Some((6, peer_socket(9)))));
    assert_eq!(peer.stack.recv_from(socket, &mut [0; 9]), Ok(Some((0, peer_socket(9)))));
    assert_eq!(peer.stack.recv_from(socket, &mut [0; 9]), Ok(None));
    assert_eq!(peer.stack.send_to(socket, b"answer", peer_socket(9)), Ok(true));
    let frame = answer(&mut peer);
    let ip = Ipv4Packet::new_checked(&frame[14..]).unwrap();
    let udp = UdpPacket::new_checked(ip.payload()).unwrap();
    assert!(ip.verify_checksum() && udp.verify_checksum(&STACK.into(), &PEER.into()));
    assert_eq!((udp.src_port(), udp.dst_port(), udp.payload()), (53, 9, &b"answer"[..]));
}

/// RFC 1122, section 4.1.3.1.
#[test]
fn a_port_that_nobody_has_bound_is_unreachable() {
    let (mut peer, _) = bound();
    peer.stack.wire_mut().to_stack.push_back(datagram(54, b"question"));
    let frame = answer(&mut peer);
    let ip = Ipv4Packet::new_checked(&frame[14..]).unwrap();
    let icmp = Icmpv4Packet::new_checked(ip.payload()).unwrap();
    let icmp = Icmpv4Repr::parse(&icmp, &ChecksumCapabilities::default()).unwrap();
    assert!(matches!(icmp, Icmpv4Repr::DstUnreachable { reason: Icmpv4DstUnreachable::PortUnreachable, .. }));
}

#[test]
fn damaged_datagrams_are_ignored() {
    let (mut peer, socket) = bound();
    for at in [14 + 11, 14 + 20 + 6, 14 + 28] {
        let mut frame = datagram(53, b"question");
        frame[at] ^= 1;
        peer.stack.wire_mut().to_stack.push_back(frame);
    }
    // A length beyond the packet's end.
    let mut frame = datagram(53, b"question");
    frame[14 + 20 + 5] += 1;
    peer.stack.wire_mut().to_stack.push_back(frame);
    peer.stack.poll();
    assert_eq!(peer.stack.recv_from(socket, &mut [0; 9]), Ok(None));
    let counters = peer.stack.counters();
    assert_eq!((events(&mut peer.stack), counters.damaged, counters.ignored), (vec![], 3, 1));
}

#[test]
fn those_that_are_not_read_are_limited() {
    let (mut peer, socket) = bound();
    for _ in 0..70 {
        peer.stack.wire_mut().to_stack.push_back(datagram(53, b"question"));
    }
    while peer.stack.poll() > 0 {}
    assert_eq!(peer.stack.counters().datagrams_dropped, 6);
    let count = core::iter::from_fn(|| peer.stack.recv_from(socket, &mut [0; 9]).unwrap()).count();
    assert_eq!(count, 64);
}

#[test]
fn without_room_nothing_is_sent() {
    let (mut peer, socket) = bound();
    peer.stack.wire_mut().room = 0;
    assert_eq!(peer.stack.send_to(socket, b"answer", peer_socket(9)), Ok(false));
    peer.stack.wire_mut().room = 9;
    assert_eq!(peer.stack.send_to(socket, b"answer", peer_socket(9)), Ok(true));
}

#[test]
fn what_cannot_be_sent_is_refused_by_name() {
    let (mut peer, socket) = bound();
    assert_eq!(peer.stack.bind_udp(0), Err(ListenError::PortZero));
    assert_eq!(peer.stack.bind_udp(53), Err(ListenError::InUse(53)));
    assert_eq!(peer.stack.send_to(socket, &[0; 1_473], peer_socket(9)), Err(SendToError::TooLong(1_473, 1_472)));
    assert_eq!(peer.stack.send_to(socket, &[0; 1_472], peer_socket(9)), Ok(true));
    let outside = SocketAddr::from(([198, 51, 100, 1], 9));
    assert_eq!(peer.stack.send_to(socket, b"", outside), Err(SendToError::NoRoute(outside)));
    let other_version = "[2001:db8::1]:9".parse().unwrap();
    assert_eq!(peer.stack.send_to(socket, b"", other_version), Err(SendToError::NoRoute(other_version)));
    assert_eq!(peer.stack.send_to(socket, b"", peer_socket(0)), Err(SendToError::NoPeer(peer_socket(0))));
    peer.stack.close_udp(socket);
    assert_eq!(peer.stack.send_to(socket, b"", peer_socket(9)), Err(SendToError::NoSuchSocket));
    assert_eq!(peer.stack.recv_from(socket, &mut []), Err(SendToError::NoSuchSocket));
    assert!(peer.stack.bind_udp(53).is_ok());
}

/// RFC 1122, sections 4.1.3.2 and 4.1.3.4: with options of IPv4, and without a checksum.
#[test]
fn datagrams_with_options_and_without_checksum_arrive() {
    let (mut peer, socket) = bound();
    for options in [&[1; 40][..], &[148, 4, 0, 0], &[7, 255, 1, 1]] {
        let mut frame = datagram(53, b"question");
        let sum = 14 + 20 + 6;
        frame[sum..sum + 2].fill(0);
        frame.splice(34..34, options.iter().copied());
        frame[14] = 0x45 + options.len() as u8 / 4;
        let len = (frame.len() - 14) as u16;
        let mut ip = Ipv4Packet::new_unchecked(&mut frame[14..]);
        ip.set_total_len(len);
        ip.fill_checksum();
        peer.stack.wire_mut().to_stack.push_back(frame);
        peer.stack.poll();
        let mut bytes = [0; 9];
        assert_eq!(peer.stack.recv_from(socket, &mut bytes), Ok(Some((8, peer_socket(9)))));
        assert_eq!(&bytes[..8], b"question");
    }
}

/// RFC 1122, section 3.2.2: the header that was received, and what follows it, unchanged; for an unknown protocol too.
#[test]
fn what_is_refused_is_sent_back_as_it_was() {
    for protocol in [17, 132] {
        let (mut peer, _) = bound();
        let mut frame = datagram(54, b"question");
        {
            let ip = &mut frame[14..];
            // Service, identification, "do not fragment" off, time to live.
            (ip[1], ip[4], ip[5], ip[6], ip[8], ip[9]) = (0xb8, 7, 9, 0, 3, protocol);
            Ipv4Packet::new_unchecked(ip).fill_checksum();
        }
        peer.stack.wire_mut().to_stack.push_back(frame.clone());
        let answer = answer(&mut peer);
        let ip = Ipv4Packet::new_checked(&answer[14..]).unwrap();
        assert_eq!((ip.src_addr(), ip.dst_addr(), ip.next_header()), (STACK, PEER, IpProtocol::Icmp));
        let icmp = Icmpv4Packet::new_checked(ip.payload()).unwrap();
        assert!(icmp.verify_checksum());
        assert_eq!((ip.payload()[0], ip.payload()[1]), (3, if protocol == 17 { 3 } else { 2 }));
        assert_eq!(ip.payload()[8..], frame[14..]);
    }
}

/// RFC 1812, section 4.3.2.3: an answer is not longer than 576 bytes.
#[test]
fn of_a_long_datagram_the_start_is_sent_back() {
    let (mut peer, _) = bound();
    let frame = datagram(54, &[7; 1_400]);
    peer.stack.wire_mut().to_stack.push_back(frame.clone());
    let answer = answer(&mut peer);
    let ip = Ipv4Packet::new_checked(&answer[14..]).unwrap();
    assert_eq!(usize::from(ip.total_len()), 576);
    assert_eq!(ip.payload()[8..], frame[14..14 + 548]);
}

/// RFC 1122, section 3.2.2: no message about a message, about a part, or to those who are not one host.
#[test]
fn nothing_is_said_about_some_packets() {
    let (mut peer, _) = bound();
    let mut refused = vec![3, 3, 0, 0, 0, 0, 0, 0];
    refused.extend(&datagram(54, b"ours")[14..]);
    Icmpv4Packet::new_unchecked(&mut refused[..]).fill_checksum();
    peer.stack.wire_mut().to_stack.push_back(other_frame(IpProtocol::Icmp, &refused));
    let change = |at: usize, to: &[u8]| {
        let mut frame = datagram(54, b"question");
        frame[14 + at..14 + at + to.len()].copy_from_slice(to);
        Ipv4Packet::new_unchecked(&mut frame[14..]).fill_checksum();
        // The addresses count in the sum of the datagram, which may be left out.
        frame[14 + 26..14 + 28].fill(0);
        frame
    };
    for frame in [
        change(6, &[0, 5]),
        change(6, &[0x20, 0]),
        change(12, &[0, 0, 0, 0]),
        change(12, &[255, 255, 255, 255]),
        change(12, &[192, 0, 2, 255]),
        change(12, &[224, 0, 0, 1]),
        change(12, &[127, 0, 0, 1]),
        change(16, &[192, 0, 2, 255]),
        change(16, &[224, 0, 0, 1]),
    ] {
        peer.stack.wire_mut().to_stack.push_back(frame);
        peer.stack.poll();
        assert!(peer.stack.wire().from_stack.is_empty());
    }
    let mut to_all = datagram(54, b"question");
    to_all[..6].fill(0xff);
    peer.stack.wire_mut().to_stack.push_back(to_all);
    peer.stack.poll();
    assert!(peer.stack.wire().from_stack.is_empty());
}
