// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! ARP (RFC 826; RFC 1122, section 2.3.2), as a host of the network sees it.

use crate::peer::{PEER, PEER_MAC, Peer, STACK_MAC, arp_packet, config, peer_socket};
use core::time::Duration;
use dpdk_sockets::UdpId;
use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, Ipv4Packet,
    UdpPacket,
};

const MILLISECOND: Duration = Duration::from_millis(1);
const OTHER_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 7]);

/// What the stack has sent: questions, with the address that they go to, and the payloads of datagrams likewise.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sent {
    questions: Vec<EthernetAddress>,
    datagrams: Vec<(EthernetAddress, Vec<u8>)>,
}

fn sent(peer: &mut Peer) -> Sent {
    peer.stack.poll();
    let mut sent = Sent::default();
    for bytes in peer.stack.wire_mut().from_stack.drain(..) {
        let frame = EthernetFrame::new_checked(&bytes[..]).unwrap();
        assert_eq!(frame.src_addr(), STACK_MAC);
        if frame.ethertype() == EthernetProtocol::Arp {
            let arp = ArpRepr::parse(&ArpPacket::new_checked(frame.payload()).unwrap()).unwrap();
            let ArpRepr::EthernetIpv4 { operation, target_protocol_addr, .. } = arp else { panic!("{arp:?}") };
            assert_eq!((operation, target_protocol_addr), (ArpOperation::Request, PEER));
            sent.questions.push(frame.dst_addr());
        } else {
            let ip = Ipv4Packet::new_checked(frame.payload()).unwrap();
            let udp = UdpPacket::new_checked(ip.payload()).unwrap();
            sent.datagrams.push((frame.dst_addr(), udp.payload().to_vec()));
        }
    }
    sent
}

fn bound() -> (Peer, UdpId) {
    let mut peer = Peer::new(config());
    let socket = peer.stack.bind_udp(53).unwrap();
    (peer, socket)
}

fn send(peer: &mut Peer, socket: UdpId, number: u8) {
    assert_eq!(peer.stack.send_to(socket, &[number], peer_socket(9)), Ok(true));
}

/// The host says that it has this address.
fn say(peer: &mut Peer, operation: ArpOperation, mac: EthernetAddress) {
    let mut frame = arp_packet(operation, PEER);
    ArpPacket::new_unchecked(&mut frame[14..]).set_source_hardware_addr(mac.as_bytes());
    peer.stack.wire_mut().to_stack.push_back(frame);
}

/// Section 2.3.2.1: one question a second for a host, however much there is to send; and section 2.3.2.2: the latest datagrams wait.
#[test]
fn a_host_is_asked_for_once_a_second_and_the_latest_frames_wait() {
    let (mut peer, socket) = bound();
    let mut questions = Vec::new();
    for number in 0..100_u8 {
        send(&mut peer, socket, number);
        let Sent { questions: asked, datagrams } = sent(&mut peer);
        assert_eq!(datagrams, []);
        questions.extend(asked.into_iter().map(|to| (number, to)));
        peer.stack.wire_mut().now += 25 * MILLISECOND;
    }
    let numbers: Vec<_> = questions.iter().map(|(number, _)| *number).collect();
    assert!(matches!(numbers[..], [0, 40..=48, 80..=96]), "{numbers:?}");
    assert!(questions.iter().all(|(_, to)| to.is_broadcast()));
    say(&mut peer, ArpOperation::Reply, PEER_MAC);
    let expected: Vec<_> = (36..100).map(|number| (PEER_MAC, vec![number])).collect();
    assert_eq!(sent(&mut peer), Sent { questions: vec![], datagrams: expected });
    assert_eq!(peer.stack.counters().unresolved, 36);
}

/// Section 2.3.2.1: an address that was not heard of for 60 s is forgotten, and it is asked for, at the host itself, before.
#[test]
fn an_address_is_confirmed_and_forgotten() {
    let (mut peer, socket) = bound();
    send(&mut peer, socket, 0);
    say(&mut peer, ArpOperation::Reply, PEER_MAC);
    assert_eq!(sent(&mut peer).datagrams.len(), 1);
    for (seconds, questions, datagrams) in [
        (44, vec![], 1),
        // The host is silent.
        (2, vec![PEER_MAC], 1),
        (13, vec![PEER_MAC], 1),
        (2, vec![EthernetAddress::BROADCAST], 0),
    ] {
        peer.stack.wire_mut().now += Duration::from_secs(seconds);
        peer.stack.poll();
        send(&mut peer, socket, 1);
        let got = sent(&mut peer);
        assert_eq!((got.questions, got.datagrams.len()), (questions, datagrams), "after {seconds} s more");
    }
}

/// A host that has moved says so (RFC 826), and the next frame goes there.
#[test]
fn a_host_may_move() {
    let (mut peer, socket) = bound();
    send(&mut peer, socket, 0);
    say(&mut peer, ArpOperation::Reply, PEER_MAC);
    sent(&mut peer);
    say(&mut peer, ArpOperation::Request, OTHER_MAC);
    peer.stack.poll();
    peer.stack.wire_mut().from_stack.clear();
    send(&mut peer, socket, 1);
    assert_eq!(sent(&mut peer).datagrams, [(OTHER_MAC, vec![1])]);
}

/// Nobody has the address of all, of many, or of nobody, and the stack's own address is its own.
#[test]
fn lies_are_ignored() {
    let (mut peer, socket) = bound();
    send(&mut peer, socket, 0);
    sent(&mut peer);
    say(&mut peer, ArpOperation::Reply, EthernetAddress::BROADCAST);
    say(&mut peer, ArpOperation::Reply, EthernetAddress([1, 0, 0x5e, 0, 0, 1]));
    peer.stack.wire_mut().to_stack.push_back(arp_packet(ArpOperation::Request, crate::peer::STACK));
    for at in [14, 16, 18, 19, 20] {
        // Another kind of network, of protocol, another length, or neither question nor answer.
        let mut frame = arp_packet(ArpOperation::Reply, PEER);
        frame[at] = 77;
        peer.stack.wire_mut().to_stack.push_back(frame);
    }
    for len in 14..14 + 28 {
        peer.stack.wire_mut().to_stack.push_back(arp_packet(ArpOperation::Reply, PEER)[..len].to_vec());
    }
    while !peer.stack.wire().to_stack.is_empty() {
        assert_eq!(sent(&mut peer), Sent::default());
    }
    say(&mut peer, ArpOperation::Reply, PEER_MAC);
    assert_eq!(sent(&mut peer).datagrams, [(PEER_MAC, vec![0])]);
}

/// RFC 5227: a host that looks whether its address is free has none yet, and gets an answer.
#[test]
fn a_question_is_answered_to_who_asked() {
    let (mut peer, _) = bound();
    let mut frame = arp_packet(ArpOperation::Request, core::net::Ipv4Addr::UNSPECIFIED);
    let header =
        EthernetRepr { src_addr: PEER_MAC, dst_addr: EthernetAddress::BROADCAST, ethertype: EthernetProtocol::Arp };
    header.emit(&mut EthernetFrame::new_unchecked(&mut frame[..]));
    peer.stack.wire_mut().to_stack.push_back(frame);
    peer.stack.poll();
    let answer = peer.stack.wire_mut().from_stack.pop_front().unwrap();
    let frame = EthernetFrame::new_checked(&answer[..]).unwrap();
    let arp = ArpPacket::new_checked(frame.payload()).unwrap();
    assert_eq!((frame.dst_addr(), arp.operation()), (PEER_MAC, ArpOperation::Reply));
    assert_eq!(arp.source_hardware_addr(), STACK_MAC.as_bytes());
    // A question for somebody else is not.
    let mut other = arp_packet(ArpOperation::Request, PEER);
    *other.last_mut().unwrap() = 77;
    peer.stack.wire_mut().to_stack.push_back(other);
    peer.stack.poll();
    assert!(peer.stack.wire().from_stack.is_empty());
}
