// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! IPv6 and neighbor discovery, by packets made by hand.

use crate::peer::{PEER_MAC, STACK_MAC, events};
use core::net::{Ipv6Addr, SocketAddr};
use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{Config, Ended, Event, Route, Stack};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, Icmpv6DstUnreachable, Icmpv6Packet, Icmpv6Repr,
    IpProtocol, Ipv6Packet, Ipv6Repr, NdiscNeighborFlags, NdiscRepr, RawHardwareAddress, TcpControl, TcpPacket,
    TcpRepr, TcpSeqNumber, UdpPacket, UdpRepr,
};

const STACK: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0x12, 0x3456);
const PEER: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2);
/// What the stack makes of its MAC address.
const LINK_LOCAL: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0xff, 0xfe00, 1);
/// Where the stack is asked for.
const GROUP: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff12, 0x3456);
const GROUP_MAC: EthernetAddress = EthernetAddress([0x33, 0x33, 0xff, 0x12, 0x34, 0x56]);
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

fn config() -> Config {
    Config::new(MacAddr(STACK_MAC.0), format!("{STACK}/64").parse().unwrap())
}

fn stack() -> Stack<Memory> {
    let mut stack = Stack::new(Memory::default(), config()).unwrap();
    stack.listen(80).unwrap();
    stack
}

/// A packet from the stack.
#[derive(Debug)]
struct Got {
    mac: EthernetAddress,
    from: Ipv6Addr,
    to: Ipv6Addr,
    protocol: IpProtocol,
    hop_limit: u8,
    content: Vec<u8>,
}

impl Got {
    fn icmp(&self) -> Icmpv6Repr<'_> {
        assert_eq!(self.protocol, IpProtocol::Icmpv6);
        let packet = Icmpv6Packet::new_checked(&self.content[..]).unwrap();
        Icmpv6Repr::parse(&self.from, &self.to, &packet, &ChecksumCapabilities::default()).unwrap()
    }

    fn tcp(&self) -> TcpRepr<'_> {
        assert_eq!(self.protocol, IpProtocol::Tcp);
        let packet = TcpPacket::new_checked(&self.content[..]).unwrap();
        let checksums = ChecksumCapabilities::default();
        TcpRepr::parse(&packet, &self.from.into(), &self.to.into(), &checksums).unwrap()
    }
}

/// A frame of the peer to the stack's MAC address, or to that of its group.
fn frame(from: Ipv6Addr, to: Ipv6Addr, protocol: IpProtocol, hop_limit: u8, content: &[u8]) -> Vec<u8> {
    let ip = Ipv6Repr { src_addr: from, dst_addr: to, next_header: protocol, payload_len: content.len(), hop_limit };
    let mut bytes = vec![0; 14 + ip.buffer_len() + content.len()];
    let mut frame = EthernetFrame::new_unchecked(&mut bytes[..]);
    let dst_addr = if to.is_multicast() { GROUP_MAC } else { STACK_MAC };
    EthernetRepr { src_addr: PEER_MAC, dst_addr, ethertype: EthernetProtocol::Ipv6 }.emit(&mut frame);
    let mut packet = Ipv6Packet::new_unchecked(frame.payload_mut());
    ip.emit(&mut packet);
    packet.payload_mut().copy_from_slice(content);
    bytes
}

pub(crate) fn icmp(from: Ipv6Addr, to: Ipv6Addr, hop_limit: u8, message: &Icmpv6Repr<'_>) -> Vec<u8> {
    let mut content = vec![0; message.buffer_len()];
    let mut packet = Icmpv6Packet::new_unchecked(&mut content[..]);
    message.emit(&from, &to, &mut packet, &ChecksumCapabilities::default());
    frame(from, to, IpProtocol::Icmpv6, hop_limit, &content)
}

fn solicitation(target: Ipv6Addr) -> Icmpv6Repr<'static> {
    let lladdr = Some(RawHardwareAddress::from(PEER_MAC));
    Icmpv6Repr::Ndisc(NdiscRepr::NeighborSolicit { target_addr: target, lladdr })
}

fn advertisement(target: Ipv6Addr, mac: EthernetAddress, flags: NdiscNeighborFlags) -> Icmpv6Repr<'static> {
    let lladdr = Some(RawHardwareAddress::from(mac));
    Icmpv6Repr::Ndisc(NdiscRepr::NeighborAdvert { flags, target_addr: target, lladdr })
}

/// The peer says who it is, as it was asked to.
fn answer() -> Vec<u8> {
    let flags = NdiscNeighborFlags::SOLICITED | NdiscNeighborFlags::OVERRIDE;
    icmp(PEER, STACK, 255, &advertisement(PEER, PEER_MAC, flags))
}

fn segment(ports: (u16, u16), control: TcpControl, seq: i32, ack: Option<TcpSeqNumber>, data: &[u8]) -> Vec<u8> {
    let tcp = TcpRepr {
        src_port: ports.0,
        dst_port: ports.1,
        control,
        seq_number: TcpSeqNumber(seq),
        ack_number: ack,
        window_len: 50_000,
        window_scale: None,
        max_seg_size: (control == TcpControl::Syn).then_some(1_440),
        sack_permitted: false,
        sack_ranges: [None; 3],
        timestamp: None,
        payload: data,
    };
    let mut content = vec![0; tcp.buffer_len()];
    let mut packet = TcpPacket::new_unchecked(&mut content[..]);
    tcp.emit(&mut packet, &PEER.into(), &STACK.into(), &ChecksumCapabilities::default());
    frame(PEER, STACK, IpProtocol::Tcp, 64, &content)
}

fn poll(stack: &mut Stack<Memory>) -> Vec<Got> {
    stack.poll();
    stack.poll();
    let frames: Vec<_> = stack.wire_mut().from_stack.drain(..).collect();
    let got = |bytes: Vec<u8>| {
        let frame = EthernetFrame::new_checked(&bytes[..]).unwrap();
        assert_eq!((frame.src_addr(), frame.ethertype()), (STACK_MAC, EthernetProtocol::Ipv6));
        let ip = Ipv6Packet::new_checked(frame.payload()).unwrap();
        Got {
            mac: frame.dst_addr(),
            from: ip.src_addr(),
            to: ip.dst_addr(),
            protocol: ip.next_header(),
            hop_limit: ip.hop_limit(),
            content: ip.payload().to_vec(),
        }
    };
    frames.into_iter().map(got).collect()
}

fn tell(stack: &mut Stack<Memory>, frame: Vec<u8>) -> Vec<Got> {
    stack.wire_mut().to_stack.push_back(frame);
    poll(stack)
}

/// A connection of the peer to port 80, what the stack's next sequence number is, and the stack.
fn connected() -> (Stack<Memory>, dpdk_sockets::ConnectionId, TcpSeqNumber) {
    let mut stack = stack();
    tell(&mut stack, segment((9, 80), TcpControl::Syn, 0, None, b""));
    let [syn] = &tell(&mut stack, answer())[..] else { panic!("no SYN-ACK") };
    let syn = syn.tcp();
    assert_eq!((syn.control, syn.ack_number, syn.max_seg_size), (TcpControl::Syn, Some(TcpSeqNumber(1)), Some(1_440)));
    let next = syn.seq_number + 1;
    assert!(tell(&mut stack, segment((9, 80), TcpControl::None, 1, Some(next), b"")).is_empty());
    let [Event::Accepted(_, id)] = events(&mut stack)[..] else { panic!("not accepted") };
    assert_eq!(stack.peer(id), Ok(SocketAddr::from((PEER, 9))));
    (stack, id, next)
}

/// RFC 4861, sections 7.2.3 and 7.2.4.
#[test]
fn solicitations_are_answered() {
    let mut stack = stack();
    for (target, to) in [(STACK, GROUP), (STACK, STACK), (LINK_LOCAL, GROUP)] {
        let got = tell(&mut stack, icmp(PEER, to, 255, &solicitation(target)));
        let [got] = &got[..] else { panic!("{got:?}") };
        assert_eq!((got.mac, got.from, got.to, got.hop_limit), (PEER_MAC, target, PEER, 255));
        let flags = NdiscNeighborFlags::SOLICITED | NdiscNeighborFlags::OVERRIDE;
        assert_eq!(got.icmp(), advertisement(target, STACK_MAC, flags));
    }
    // A host that wants to take the address (RFC 4862, section 5.4.3).
    let got = tell(&mut stack, icmp(Ipv6Addr::UNSPECIFIED, GROUP, 255, &solicitation(STACK)));
    let [got] = &got[..] else { panic!("{got:?}") };
    assert_eq!((got.mac, got.to), (EthernetAddress([0x33, 0x33, 0, 0, 0, 1]), ALL_NODES));
    assert_eq!(got.icmp(), advertisement(STACK, STACK_MAC, NdiscNeighborFlags::OVERRIDE));
}

/// RFC 4861, section 7.1.1.
#[test]
fn solicitations_from_elsewhere_are_ignored() {
    let mut stack = stack();
    let mut damaged = icmp(PEER, GROUP, 255, &solicitation(STACK));
    damaged[14 + 40 + 2] ^= 1;
    for frame in [
        icmp(PEER, GROUP, 254, &solicitation(STACK)),
        icmp(PEER, GROUP, 255, &solicitation(PEER)),
        icmp(STACK, GROUP, 255, &solicitation(STACK)),
        icmp(ALL_NODES, GROUP, 255, &solicitation(STACK)),
        damaged,
    ] {
        assert!(tell(&mut stack, frame).is_empty());
    }
}

#[test]
fn echo_requests_are_answered() {
    let mut stack = stack();
    let got = tell(&mut stack, icmp(PEER, STACK, 64, &Icmpv6Repr::EchoRequest { ident: 7, seq_no: 9, data: b"ping" }));
    assert_eq!(got[0].icmp(), Icmpv6Repr::EchoReply { ident: 7, seq_no: 9, data: b"ping" });
    assert_eq!((got[0].mac, got[0].from, got[0].to), (PEER_MAC, STACK, PEER));
}

#[test]
fn frames_wait_for_the_neighbor() {
    let mut stack = stack();
    let got = tell(&mut stack, segment((9, 80), TcpControl::Syn, 0, None, b""));
    let [question] = &got[..] else { panic!("{got:?}") };
    let group = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00, 2);
    assert_eq!((question.mac, question.to), (EthernetAddress([0x33, 0x33, 0xff, 0, 0, 2]), group));
    assert_eq!((question.from, question.hop_limit), (STACK, 255));
    let lladdr = Some(RawHardwareAddress::from(STACK_MAC));
    assert_eq!(question.icmp(), Icmpv6Repr::Ndisc(NdiscRepr::NeighborSolicit { target_addr: PEER, lladdr }));
    let got = tell(&mut stack, answer());
    let [syn] = &got[..] else { panic!("{got:?}") };
    assert_eq!((syn.mac, syn.tcp().control), (PEER_MAC, TcpControl::Syn));
}

/// RFC 4861, section 7.2.5: without the override flag, an advertisement that nobody asked for changes nothing.
#[test]
fn a_neighbor_is_not_replaced_by_a_weak_advertisement() {
    let (mut stack, id, _) = connected();
    let other = EthernetAddress([2, 0, 0, 0, 0, 7]);
    for (flags, mac) in [(NdiscNeighborFlags::empty(), PEER_MAC), (NdiscNeighborFlags::OVERRIDE, other)] {
        assert!(tell(&mut stack, icmp(PEER, GROUP, 255, &advertisement(PEER, other, flags))).is_empty());
        stack.send(id, b"data").unwrap();
        assert_eq!(poll(&mut stack)[0].mac, mac);
    }
}

#[test]
fn a_host_that_is_not_there_is_unreachable() {
    let mut stack = stack();
    let id = stack.connect(SocketAddr::from((PEER, 443))).unwrap();
    for _ in 0..40 {
        poll(&mut stack);
        stack.wire_mut().now += Duration::from_millis(100);
    }
    assert_eq!(events(&mut stack), [Event::Ended(id, Ended::Unreachable)]);
}

#[test]
fn a_gateway_has_a_link_local_address() {
    let mut config = config();
    let gateway: Ipv6Addr = "fe80::9".parse().unwrap();
    config.routes.push(Route::default_via(gateway.into()));
    let mut stack = Stack::new(Memory::default(), config).unwrap();
    stack.connect("[2001:db8:ffff::1]:443".parse().unwrap()).unwrap();
    let got = poll(&mut stack);
    let lladdr = Some(RawHardwareAddress::from(STACK_MAC));
    assert_eq!(got[0].icmp(), Icmpv6Repr::Ndisc(NdiscRepr::NeighborSolicit { target_addr: gateway, lladdr }));
    assert_eq!(got[0].from, LINK_LOCAL);
    let flags = NdiscNeighborFlags::SOLICITED | NdiscNeighborFlags::ROUTER;
    let got = tell(&mut stack, icmp(gateway, LINK_LOCAL, 255, &advertisement(gateway, PEER_MAC, flags)));
    assert_eq!((got[0].mac, got[0].from, got[0].tcp().control), (PEER_MAC, STACK, TcpControl::Syn));
}

#[test]
fn data_come_and_go() {
    let (mut stack, id, next) = connected();
    let got = tell(&mut stack, segment((9, 80), TcpControl::Psh, 1, Some(next), b"request"));
    assert_eq!(got[0].tcp().ack_number, Some(TcpSeqNumber(8)));
    let mut bytes = [0; 9];
    assert_eq!(stack.recv(id, &mut bytes), Ok(Some(7)));
    stack.send(id, &[3; 2_000]).unwrap();
    let lengths: Vec<_> = poll(&mut stack).iter().map(|got| got.tcp().payload.len()).collect();
    assert_eq!(lengths, [1_440, 560]);
}

/// RFC 8201, and RFC 5927 for IPv6 too.
#[test]
fn packets_become_as_short_as_the_path_needs() {
    let (mut stack, id, next) = connected();
    stack.send(id, &[3; 1_440]).unwrap();
    let got = poll(&mut stack);
    let too_big = |seq: TcpSeqNumber| {
        let mut data = got[0].content.clone();
        data[4..8].copy_from_slice(&seq.0.to_be_bytes());
        let payload_len = data.len();
        let (src_addr, dst_addr) = (STACK, PEER);
        let header = Ipv6Repr { src_addr, dst_addr, next_header: IpProtocol::Tcp, payload_len, hop_limit: 60 };
        icmp("2001:db8::ffff".parse().unwrap(), STACK, 60, &Icmpv6Repr::PktTooBig { mtu: 1_300, header, data: &data })
    };
    let mut damaged = too_big(next);
    damaged[14 + 40 + 7] ^= 1;
    for frame in [too_big(next - 1), damaged] {
        assert!(tell(&mut stack, frame).is_empty());
    }
    stack.wire_mut().now += Duration::from_secs(2);
    assert_eq!(poll(&mut stack)[0].tcp().payload.len(), 1_440, "nothing was believed");
    assert!(tell(&mut stack, too_big(next)).is_empty());
    stack.wire_mut().now += Duration::from_secs(4);
    assert_eq!(poll(&mut stack)[0].tcp().payload.len(), 1_280 - 60);
}

#[test]
fn a_handshake_ends_where_nobody_listens() {
    let mut stack = stack();
    let id = stack.connect(SocketAddr::from((PEER, 443))).unwrap();
    poll(&mut stack);
    let got = tell(&mut stack, answer());
    let data = &got[0].content;
    let payload_len = data.len();
    let (src_addr, dst_addr) = (STACK, PEER);
    let header = Ipv6Repr { src_addr, dst_addr, next_header: IpProtocol::Tcp, payload_len, hop_limit: 60 };
    let reason = Icmpv6DstUnreachable::PortUnreachable;
    tell(&mut stack, icmp(PEER, STACK, 64, &Icmpv6Repr::DstUnreachable { reason, header, data }));
    assert_eq!(events(&mut stack), [Event::Ended(id, Ended::Refused)]);
}

#[test]
fn datagrams_come_and_go() {
    let mut stack = stack();
    let socket = stack.bind_udp(53).unwrap();
    let datagram = |port| {
        let udp = UdpRepr { src_port: 9, dst_port: port };
        let mut content = vec![0; 12];
        let write = |bytes: &mut [u8]| bytes.copy_from_slice(b"ping");
        let mut packet = UdpPacket::new_unchecked(&mut content[..]);
        udp.emit(&mut packet, &PEER.into(), &STACK.into(), 4, write, &ChecksumCapabilities::default());
        frame(PEER, STACK, IpProtocol::Udp, 64, &content)
    };
    assert!(tell(&mut stack, datagram(53)).is_empty());
    let mut bytes = [0; 4];
    let peer = SocketAddr::from((PEER, 9));
    assert_eq!((stack.recv_from(socket, &mut bytes), &bytes), (Ok(Some((4, peer))), b"ping"));
    let got = tell(&mut stack, datagram(54));
    let unreachable = got[0].icmp();
    assert!(matches!(unreachable, Icmpv6Repr::DstUnreachable { reason: Icmpv6DstUnreachable::PortUnreachable, .. }));
    // A datagram of IPv6 must have a checksum (RFC 8200, section 8.1).
    let mut without = datagram(53);
    without[14 + 40 + 6..14 + 40 + 8].fill(0);
    tell(&mut stack, without);
    assert_eq!((stack.recv_from(socket, &mut bytes), stack.counters().damaged), (Ok(None), 1));

    assert_eq!(stack.send_to(socket, &[7; 1_452], peer), Ok(true));
    assert!(stack.send_to(socket, &[7; 1_453], peer).is_err());
    poll(&mut stack);
    let got = tell(&mut stack, answer());
    let udp = UdpPacket::new_checked(&got[0].content[..]).unwrap();
    assert!(udp.verify_checksum(&STACK.into(), &PEER.into()));
    assert_eq!((udp.src_port(), udp.dst_port(), udp.payload()), (53, 9, &[7; 1_452][..]));
}

#[test]
fn other_packets_are_ignored() {
    let mut stack = stack();
    let fragment = frame(PEER, STACK, IpProtocol::Ipv6Frag, 64, &[6, 0, 0, 1, 0, 0, 0, 1]);
    let whole = segment((9, 80), TcpControl::Syn, 0, None, b"");
    let mut short = whole.clone();
    short.truncate(14 + 40 + 19);
    let mut longer_than_its_frame = whole.clone();
    longer_than_its_frame[14 + 5] += 1;
    let mut to_a_group = whole.clone();
    to_a_group[..6].copy_from_slice(&GROUP_MAC.0);
    let mut to_another = whole.clone();
    to_another[14 + 39] ^= 1;
    let mut from_a_group = whole.clone();
    from_a_group[14 + 8] = 0xff;
    let options = frame(PEER, STACK, IpProtocol::Ipv6Opts, 64, &[6, 0, 1, 4, 0, 0, 0, 0]);
    for frame in [short, longer_than_its_frame, to_a_group, to_another, from_a_group, options] {
        assert!(tell(&mut stack, frame).is_empty());
    }
    assert!(tell(&mut stack, fragment).is_empty());
    let mut damaged = whole;
    damaged[14 + 40 + 17] ^= 1;
    assert!(tell(&mut stack, damaged).is_empty());
    let counters = stack.counters();
    assert_eq!((counters.ignored, counters.fragments, counters.damaged), (6, 1, 1));
}
