// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Hosts of the network, and beyond.

use crate::peer::{PEER, PEER_MAC, Peer, STACK, STACK_MAC, arp_packet, config, events, peer_socket};
use core::net::{IpAddr, Ipv4Addr, SocketAddr};
use core::time::Duration;
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{Ended, Event, Route, Stack};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    ArpOperation, EthernetFrame, EthernetProtocol, EthernetRepr, Icmpv4Packet, Icmpv4Repr, IpProtocol, Ipv4Packet,
    Ipv4Repr, TcpControl, TcpPacket, UdpPacket, UdpRepr,
};

/// A frame of the peer with a packet that is not TCP.
pub(crate) fn other_frame(protocol: IpProtocol, payload: &[u8]) -> Vec<u8> {
    let ip =
        Ipv4Repr { src_addr: PEER, dst_addr: STACK, next_header: protocol, payload_len: payload.len(), hop_limit: 64 };
    let mut bytes = vec![0; 14 + ip.buffer_len() + payload.len()];
    let mut frame = EthernetFrame::new_unchecked(&mut bytes[..]);
    EthernetRepr { src_addr: PEER_MAC, dst_addr: STACK_MAC, ethertype: EthernetProtocol::Ipv4 }.emit(&mut frame);
    let mut packet = Ipv4Packet::new_unchecked(frame.payload_mut());
    ip.emit(&mut packet, &ChecksumCapabilities::default());
    packet.payload_mut().copy_from_slice(payload);
    bytes
}

#[test]
fn arp_and_ping_are_answered() {
    let mut peer = Peer::new(config());
    peer.stack.wire_mut().to_stack.push_back(arp_packet(ArpOperation::Request, PEER));
    peer.stack.poll();
    let answer = peer.stack.wire_mut().from_stack.pop_front().unwrap();
    assert_eq!(EthernetFrame::new_checked(&answer[..]).unwrap().dst_addr(), PEER_MAC);

    let checksums = ChecksumCapabilities::default();
    let echo = Icmpv4Repr::EchoRequest { ident: 7, seq_no: 9, data: b"ping" };
    let mut payload = vec![0; echo.buffer_len()];
    echo.emit(&mut Icmpv4Packet::new_unchecked(&mut payload[..]), &checksums);
    peer.stack.wire_mut().to_stack.push_back(other_frame(IpProtocol::Icmp, &payload));
    peer.stack.poll();
    let answer = peer.stack.wire_mut().from_stack.pop_front().unwrap();
    let frame = EthernetFrame::new_checked(&answer[..]).unwrap();
    let ip = Ipv4Packet::new_checked(frame.payload()).unwrap();
    let icmp = Icmpv4Repr::parse(&Icmpv4Packet::new_checked(ip.payload()).unwrap(), &checksums).unwrap();
    assert_eq!(icmp, Icmpv4Repr::EchoReply { ident: 7, seq_no: 9, data: b"ping" });
}

#[test]
fn a_host_that_is_not_there_is_unreachable() {
    let mut peer = Peer::new(config());
    peer.has_arp = false;
    let id = peer.stack.connect(peer_socket(443)).unwrap();
    peer.wait(Duration::from_millis(2_900));
    assert_eq!(events(&mut peer.stack), []);
    assert_eq!(peer.wait(Duration::from_millis(300)), []);
    assert_eq!(events(&mut peer.stack), [Event::Ended(id, Ended::Unreachable)]);
}

#[test]
fn frames_wait_for_arp() {
    let mut peer = Peer::new(config());
    peer.has_arp = false;
    peer.send(TcpControl::Syn, b"");
    assert_eq!(peer.poll(), [], "the address is asked for");
    peer.stack.wire_mut().to_stack.push_back(arp_packet(ArpOperation::Reply, PEER));
    let [syn] = &peer.poll()[..] else { panic!("no SYN-ACK") };
    assert_eq!(syn.ack, Some(peer.seq));
}

#[test]
fn other_networks_are_reached_by_the_gateway() {
    let mut config = config();
    config.routes.push(Route::default_via([192, 0, 2, 254].into()));
    let mut peer = Peer::new(config);
    let remote = SocketAddr::from(([198, 51, 100, 1], 80));
    let id = peer.stack.connect(remote).unwrap();
    let IpAddr::V4(host) = remote.ip() else { panic!("{remote}") };
    let [syn] = &peer.poll()[..] else { panic!("no SYN") };
    (peer.address, peer.ports, peer.ack) = (host, (80, syn.ports.0), Some(syn.seq + 1));
    peer.send(TcpControl::Syn, b"");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Connected(id)]);
}

#[test]
fn frames_for_others_are_ignored() {
    let mut peer = Peer::new(config());
    peer.send(TcpControl::Syn, b"");
    peer.stack.wire_mut().to_stack[0][5] ^= 4;
    assert_eq!(peer.poll(), []);
    for len in [0, 13, 14, 33, 53] {
        peer.send(TcpControl::Syn, b"");
        peer.stack.wire_mut().to_stack[0].truncate(len);
        assert_eq!(peer.poll(), []);
    }
    assert_eq!(peer.stack.counters().ignored, 6);
}

/// RFC 1122, section 3.2.1.3: no host has these addresses, so nothing is sent to them.
#[test]
fn packets_from_nobody_are_ignored() {
    let mut peer = Peer::new(config());
    for address in [Ipv4Addr::BROADCAST, Ipv4Addr::UNSPECIFIED, Ipv4Addr::LOCALHOST, Ipv4Addr::new(224, 0, 0, 1), STACK]
    {
        peer.address = address;
        for port in [80, 81] {
            peer.ports.1 = port;
            peer.send(TcpControl::Syn, b"");
        }
        assert_eq!(peer.poll(), []);
    }
    assert_eq!((peer.stack.counters().ignored, peer.stack.connections()), (10, 0));
}

/// The frame in VLAN 7 with priority 5.
fn tagged(mut frame: Vec<u8>) -> Vec<u8> {
    frame.splice(12..12, [0x81, 0x00, 0xa0, 7]);
    frame
}

/// The stack's frame without the tag that it must have.
fn untagged(mut frame: Vec<u8>) -> Vec<u8> {
    assert_eq!(frame.splice(12..16, []).collect::<Vec<_>>(), [0x81, 0x00, 0, 7]);
    frame
}

/// IEEE 802.1Q.
#[test]
fn frames_of_a_vlan_have_its_tag() {
    let mut config = config();
    config.vlan = Some(7);
    let mut peer = Peer::new(config);
    let answer = |stack: &mut Stack<Memory>, frame| {
        stack.wire_mut().to_stack.push_back(frame);
        stack.poll();
        stack.poll();
        stack.wire_mut().from_stack.pop_front()
    };
    peer.send(TcpControl::Syn, b"");
    let syn = peer.stack.wire_mut().to_stack.pop_front().unwrap();
    assert_eq!(answer(&mut peer.stack, syn.clone()), None, "no tag");
    let question = untagged(answer(&mut peer.stack, tagged(syn)).expect("ARP asks for the peer"));
    assert_eq!(EthernetFrame::new_checked(&question[..]).unwrap().ethertype(), EthernetProtocol::Arp);
    let syn_ack = answer(&mut peer.stack, tagged(arp_packet(ArpOperation::Reply, PEER))).expect("a SYN-ACK");
    let frame = untagged(syn_ack);
    let frame = EthernetFrame::new_checked(&frame[..]).unwrap();
    let ip = Ipv4Packet::new_checked(frame.payload()).unwrap();
    let tcp = TcpPacket::new_checked(ip.payload()).unwrap();
    assert!(tcp.syn() && tcp.ack() && tcp.verify_checksum(&STACK.into(), &PEER.into()));

    let socket = peer.stack.bind_udp(9).unwrap();
    let udp = UdpRepr { src_port: 5, dst_port: 9 };
    let mut datagram = [0; 12];
    let (from, to) = (PEER.into(), STACK.into());
    let write = |bytes: &mut [u8]| bytes.copy_from_slice(b"ping");
    udp.emit(&mut UdpPacket::new_unchecked(&mut datagram[..]), &from, &to, 4, write, &<_>::default());
    answer(&mut peer.stack, tagged(other_frame(IpProtocol::Udp, &datagram)));
    let mut bytes = [0; 4];
    assert_eq!(peer.stack.recv_from(socket, &mut bytes), Ok(Some((4, peer_socket(5)))));
    assert_eq!(bytes, *b"ping");
}
