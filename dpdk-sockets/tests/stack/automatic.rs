// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Addresses that the network gives: DHCP (RFC 2131) and stateless autoconfiguration (RFC 4862), by a server and a router
//! made by hand.

use crate::ipv6::icmp;
use crate::peer::{PEER_MAC, STACK_MAC, events};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_sockets::group::Steering;
use dpdk_sockets::runtime::{self, Runtime};
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{Config, ConfigError, ConnectError, Event, IpNet, Stack};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, DhcpMessageType, DhcpPacket, DhcpRepr, EthernetAddress, EthernetFrame,
    EthernetProtocol, EthernetRepr, Icmpv6Packet, Icmpv6Repr, IpProtocol, Ipv4Packet, Ipv4Repr, Ipv6Packet,
    NdiscNeighborFlags, NdiscPrefixInfoFlags, NdiscPrefixInformation, NdiscRepr, NdiscRouterFlags, RawHardwareAddress,
    UdpPacket, UdpRepr,
};

const LEASED: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);
const SERVER: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 1);
const LINK_LOCAL: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0xff, 0xfe00, 1);
const ROUTER: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 9);
const PREFIX: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 7, 0, 0, 0, 0);
/// What the stack makes of the prefix and its MAC address.
const MADE: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 7, 0, 0xff, 0xfe00, 1);
/// Where others are asked for that address.
const GROUP: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00, 1);
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
const SECOND: Duration = Duration::from_secs(1);

/// A frame from the stack: to which MAC address, of what, and its content.
type Sent = (EthernetAddress, EthernetProtocol, Vec<u8>);

fn stack(dhcp: bool, slaac: bool) -> Stack<Memory> {
    let mut config = Config::automatic(MacAddr(STACK_MAC.0));
    (config.dhcp, config.slaac) = (dhcp, slaac);
    Stack::new(Memory::default(), config).unwrap()
}

fn take(stack: &mut Stack<Memory>) -> Vec<Sent> {
    let frames: Vec<_> = stack.wire_mut().from_stack.drain(..).collect();
    let parsed = frames.iter().map(|bytes| {
        let frame = EthernetFrame::new_checked(&bytes[..]).unwrap();
        assert_eq!(frame.src_addr(), STACK_MAC);
        (frame.dst_addr(), frame.ethertype(), frame.payload().to_vec())
    });
    parsed.collect()
}

/// What the stack sends in so many steps of 100 ms.
fn wait(stack: &mut Stack<Memory>, steps: u32) -> Vec<Sent> {
    let mut sent = Vec::new();
    for _ in 0..steps {
        stack.wire_mut().now += SECOND / 10;
        stack.poll();
        sent.extend(take(stack));
    }
    sent
}

fn tell(stack: &mut Stack<Memory>, to: EthernetAddress, ethertype: EthernetProtocol, payload: &[u8]) {
    let mut bytes = vec![0; 14 + payload.len()];
    let mut frame = EthernetFrame::new_unchecked(&mut bytes[..]);
    EthernetRepr { src_addr: PEER_MAC, dst_addr: to, ethertype }.emit(&mut frame);
    frame.payload_mut().copy_from_slice(payload);
    stack.wire_mut().to_stack.push_back(bytes);
    stack.poll();
}

/// A message of DHCP from the stack: to whom, what, its transaction, the address that is asked for, and the stack's own.
#[derive(Debug, PartialEq, Eq)]
struct Asked {
    to: (EthernetAddress, Ipv4Addr),
    what: DhcpMessageType,
    transaction: u32,
    requested: Option<Ipv4Addr>,
    own: Ipv4Addr,
}

fn asked((mac, ethertype, payload): &Sent) -> Asked {
    assert_eq!(*ethertype, EthernetProtocol::Ipv4);
    let ip = Ipv4Packet::new_checked(&payload[..]).unwrap();
    assert!(ip.verify_checksum());
    let udp = UdpPacket::new_checked(ip.payload()).unwrap();
    assert!(udp.verify_checksum(&ip.src_addr().into(), &ip.dst_addr().into()));
    assert_eq!((udp.src_port(), udp.dst_port()), (68, 67));
    let message = DhcpPacket::new_checked(udp.payload()).unwrap();
    let dhcp = DhcpRepr::parse(&message).unwrap();
    assert_eq!(dhcp.client_hardware_address, STACK_MAC);
    Asked {
        to: (*mac, ip.dst_addr()),
        what: dhcp.message_type,
        transaction: dhcp.transaction_id,
        requested: dhcp.requested_ip,
        own: dhcp.client_ip,
    }
}

/// The server says something, with a lease of 100 s.
fn say(stack: &mut Stack<Memory>, what: DhcpMessageType, transaction: u32) {
    let dhcp = DhcpRepr {
        message_type: what,
        transaction_id: transaction,
        secs: 0,
        client_hardware_address: STACK_MAC,
        client_ip: Ipv4Addr::UNSPECIFIED,
        your_ip: LEASED,
        server_ip: SERVER,
        router: Some(SERVER),
        subnet_mask: Some(Ipv4Addr::new(255, 255, 255, 0)),
        relay_agent_ip: Ipv4Addr::UNSPECIFIED,
        broadcast: false,
        requested_ip: None,
        client_identifier: None,
        server_identifier: Some(SERVER),
        parameter_request_list: None,
        dns_servers: None,
        max_size: None,
        lease_duration: Some(100),
        renew_duration: None,
        rebind_duration: None,
        additional_options: &[],
    };
    let udp = UdpRepr { src_port: 67, dst_port: 68 };
    let ip = Ipv4Repr {
        src_addr: SERVER,
        dst_addr: LEASED,
        next_header: IpProtocol::Udp,
        payload_len: 8 + dhcp.buffer_len(),
        hop_limit: 64,
    };
    let checksums = ChecksumCapabilities::default();
    let mut bytes = vec![0; ip.buffer_len() + ip.payload_len];
    let mut packet = Ipv4Packet::new_unchecked(&mut bytes[..]);
    ip.emit(&mut packet, &checksums);
    udp.emit(
        &mut UdpPacket::new_unchecked(packet.payload_mut()),
        &SERVER.into(),
        &LEASED.into(),
        dhcp.buffer_len(),
        |payload| dhcp.emit(&mut DhcpPacket::new_unchecked(payload)).unwrap(),
        &checksums,
    );
    tell(stack, STACK_MAC, EthernetProtocol::Ipv4, &bytes);
}

/// The stack asks, and is given an address.
fn leased(stack: &mut Stack<Memory>) {
    let [discover] = &wait(stack, 2)[..] else { panic!("no message") };
    let discover = asked(discover);
    let all = (EthernetAddress::BROADCAST, Ipv4Addr::BROADCAST);
    assert_eq!((discover.to, discover.what, discover.own), (all, DhcpMessageType::Discover, Ipv4Addr::UNSPECIFIED));
    say(stack, DhcpMessageType::Offer, discover.transaction);
    let [request] = &wait(stack, 2)[..] else { panic!("no request") };
    let request = asked(request);
    assert_eq!((request.to, request.what, request.requested), (all, DhcpMessageType::Request, Some(LEASED)));
    assert_eq!(events(stack), []);
    say(stack, DhcpMessageType::Ack, request.transaction);
    wait(stack, 2);
    assert_eq!(events(stack), [Event::Addresses]);
    assert!(stack.addresses().contains(&IpNet::new_assert(LEASED.into(), 24)));
}

/// The ARP packet of a frame: what, who and whom.
fn arp((_, ethertype, payload): &Sent) -> (ArpOperation, Ipv4Addr, Ipv4Addr) {
    assert_eq!(*ethertype, EthernetProtocol::Arp);
    match ArpRepr::parse(&ArpPacket::new_checked(&payload[..]).unwrap()).unwrap() {
        ArpRepr::EthernetIpv4 { operation, source_protocol_addr, target_protocol_addr, .. } => {
            (operation, source_protocol_addr, target_protocol_addr)
        }
        other => panic!("{other:?}"),
    }
}

fn server_has_its_address(stack: &mut Stack<Memory>) {
    let arp = ArpRepr::EthernetIpv4 {
        operation: ArpOperation::Reply,
        source_hardware_addr: PEER_MAC,
        source_protocol_addr: SERVER,
        target_hardware_addr: STACK_MAC,
        target_protocol_addr: LEASED,
    };
    let mut bytes = vec![0; arp.buffer_len()];
    arp.emit(&mut ArpPacket::new_unchecked(&mut bytes));
    tell(stack, STACK_MAC, EthernetProtocol::Arp, &bytes);
}

/// RFC 2131, section 3.1, and the router of RFC 2132, section 3.5.
#[test]
fn a_server_gives_an_address_and_a_route() {
    let mut stack = stack(true, false);
    let outside = SocketAddr::from(([203, 0, 113, 1], 80));
    assert_eq!(stack.connect(outside), Err(ConnectError::NoRoute(outside)));
    leased(&mut stack);
    assert_eq!(stack.addresses().len(), 1);
    stack.connect(outside).unwrap();
    stack.poll();
    assert_eq!(arp(&take(&mut stack)[0]), (ArpOperation::Request, LEASED, SERVER), "the router is asked for");
}

/// RFC 2131, section 4.4.5: the server is asked after half the time, and nothing changes.
#[test]
fn a_lease_is_renewed() {
    let mut stack = stack(true, false);
    leased(&mut stack);
    assert_eq!(wait(&mut stack, 490), []);
    let mut sent = wait(&mut stack, 20);
    assert_eq!(arp(&sent[0]), (ArpOperation::Request, LEASED, SERVER));
    server_has_its_address(&mut stack);
    sent = wait(&mut stack, 120);
    let request = asked(sent.iter().find(|(_, ethertype, _)| *ethertype == EthernetProtocol::Ipv4).unwrap());
    assert_eq!((request.to, request.what, request.own), ((PEER_MAC, SERVER), DhcpMessageType::Request, LEASED));
    say(&mut stack, DhcpMessageType::Ack, request.transaction);
    // It would have ended meanwhile.
    wait(&mut stack, 450);
    assert_eq!(events(&mut stack), []);
    assert_eq!(stack.addresses().len(), 1);
}

/// RFC 2131, section 4.4.5: what is not renewed is given back, and the search begins anew.
#[test]
fn a_lease_ends() {
    let mut stack = stack(true, false);
    leased(&mut stack);
    wait(&mut stack, 1_010);
    assert_eq!((events(&mut stack), stack.addresses()), (vec![Event::Addresses], &[][..]));
    stack.wire_mut().from_stack.clear();
    let sent = wait(&mut stack, 100);
    assert_eq!(asked(&sent[0]).what, DhcpMessageType::Discover);
}

/// What a host of the network says is not from the server.
#[test]
fn other_transactions_are_ignored() {
    let mut stack = stack(true, false);
    let [discover] = &wait(&mut stack, 2)[..] else { panic!("no message") };
    say(&mut stack, DhcpMessageType::Offer, asked(discover).transaction ^ 1);
    say(&mut stack, DhcpMessageType::Ack, asked(discover).transaction);
    assert_eq!(wait(&mut stack, 5), []);
    assert_eq!(events(&mut stack), []);
}

/// A host says something by neighbor discovery.
fn say_by_icmp(stack: &mut Stack<Memory>, from: Ipv6Addr, to: Ipv6Addr, hop_limit: u8, message: NdiscRepr<'_>) {
    stack.wire_mut().to_stack.push_back(icmp(from, to, hop_limit, &Icmpv6Repr::Ndisc(message)));
    stack.poll();
}

/// The router advertises its prefix for so long, and itself.
fn advertise(stack: &mut Stack<Memory>, valid: Duration, hop_limit: u8) {
    let valid = smoltcp::time::Duration::from_micros(valid.as_micros() as u64);
    let message = NdiscRepr::RouterAdvert {
        hop_limit: 64,
        flags: NdiscRouterFlags::empty(),
        router_lifetime: smoltcp::time::Duration::from_secs(1_800),
        reachable_time: smoltcp::time::Duration::ZERO,
        retrans_time: smoltcp::time::Duration::ZERO,
        lladdr: Some(RawHardwareAddress::from(PEER_MAC)),
        mtu: None,
        prefix_info: Some(NdiscPrefixInformation {
            prefix_len: 64,
            flags: NdiscPrefixInfoFlags::ADDRCONF | NdiscPrefixInfoFlags::ON_LINK,
            valid_lifetime: valid,
            preferred_lifetime: valid,
            prefix: PREFIX,
        }),
    };
    say_by_icmp(stack, ROUTER, ALL_NODES, hop_limit, message);
}

/// A packet of neighbor discovery from the stack: from whom, to whom, and what is asked for.
fn solicited((_, ethertype, payload): &Sent) -> (Ipv6Addr, Ipv6Addr, Option<Ipv6Addr>) {
    assert_eq!(*ethertype, EthernetProtocol::Ipv6);
    let ip = Ipv6Packet::new_checked(&payload[..]).unwrap();
    let (from, to) = (ip.src_addr(), ip.dst_addr());
    let packet = Icmpv6Packet::new_checked(ip.payload()).unwrap();
    match Icmpv6Repr::parse(&from, &to, &packet, &ChecksumCapabilities::default()).unwrap() {
        Icmpv6Repr::Ndisc(NdiscRepr::RouterSolicit { .. }) => (from, to, None),
        Icmpv6Repr::Ndisc(NdiscRepr::NeighborSolicit { target_addr, .. }) => (from, to, Some(target_addr)),
        other => panic!("{other:?}"),
    }
}

/// RFC 4862, sections 5.4 and 5.5: an address is made, and used when nobody has said for a second that it is another's.
#[test]
fn a_router_gives_an_address_and_a_route() {
    let mut stack = stack(false, true);
    assert_eq!(stack.addresses(), [IpNet::new_assert(LINK_LOCAL.into(), 64)]);
    let all_routers = "ff02::2".parse().unwrap();
    assert_eq!(solicited(&wait(&mut stack, 1)[0]), (LINK_LOCAL, all_routers, None));
    advertise(&mut stack, 3_600 * SECOND, 255);
    let sent = wait(&mut stack, 1);
    assert_eq!(sent.iter().map(solicited).collect::<Vec<_>>(), [(Ipv6Addr::UNSPECIFIED, GROUP, Some(MADE))]);
    assert_eq!(wait(&mut stack, 9), []);
    assert_eq!((events(&mut stack), stack.addresses().len()), (vec![], 1), "it is not used yet");
    wait(&mut stack, 2);
    assert_eq!(events(&mut stack), [Event::Addresses]);
    assert_eq!(stack.addresses()[1], IpNet::new_assert(MADE.into(), 64));
    // Further advertisements change nothing.
    advertise(&mut stack, 3_600 * SECOND, 255);
    assert_eq!((wait(&mut stack, 15), events(&mut stack)), (vec![], vec![]));
    stack.connect("[2001:db8:ffff::1]:80".parse().unwrap()).unwrap();
    stack.poll();
    assert_eq!(solicited(&take(&mut stack)[0]).2, Some(ROUTER));
}

/// RFC 4862, section 5.4: another host has it, or wants it too.
#[test]
fn a_duplicate_address_is_not_used() {
    let has = NdiscRepr::NeighborAdvert {
        flags: NdiscNeighborFlags::OVERRIDE,
        target_addr: MADE,
        lladdr: Some(RawHardwareAddress::from(PEER_MAC)),
    };
    let wants = NdiscRepr::NeighborSolicit { target_addr: MADE, lladdr: None };
    let asks = NdiscRepr::NeighborSolicit { target_addr: MADE, lladdr: Some(RawHardwareAddress::from(PEER_MAC)) };
    for (from, to, message, is_duplicate) in [
        (MADE, ALL_NODES, has, true),
        (Ipv6Addr::UNSPECIFIED, GROUP, wants, true),
        // Whoever looks for the host does not have its address.
        (ROUTER, GROUP, asks, false),
    ] {
        let mut stack = stack(false, true);
        advertise(&mut stack, 3_600 * SECOND, 255);
        wait(&mut stack, 2);
        say_by_icmp(&mut stack, from, to, 255, message);
        wait(&mut stack, 20);
        assert_eq!(stack.addresses().len(), if is_duplicate { 1 } else { 2 });
        advertise(&mut stack, 3_600 * SECOND, 255);
        wait(&mut stack, 20);
        assert_eq!(stack.addresses().len(), if is_duplicate { 1 } else { 2 }, "also when it is advertised again");
    }
}

/// RFC 4862, section 5.5.4.
#[test]
fn a_prefix_ends() {
    let mut stack = stack(false, true);
    advertise(&mut stack, 30 * SECOND, 255);
    wait(&mut stack, 20);
    assert_eq!((events(&mut stack), stack.addresses().len()), (vec![Event::Addresses], 2));
    wait(&mut stack, 290);
    assert_eq!((events(&mut stack), stack.addresses().len()), (vec![Event::Addresses], 1));
}

/// RFC 4861, section 6.1.2: an advertisement with another hop limit may be from elsewhere.
#[test]
fn advertisements_from_elsewhere_are_ignored() {
    let mut stack = stack(false, true);
    advertise(&mut stack, 30 * SECOND, 254);
    wait(&mut stack, 20);
    assert_eq!(stack.addresses().len(), 1);
    // And who has not asked for addresses gets none.
    let mut fixed =
        Stack::new(Memory::default(), Config::new(MacAddr(STACK_MAC.0), "2001:db8::1/64".parse().unwrap())).unwrap();
    advertise(&mut fixed, 30 * SECOND, 255);
    assert_eq!((wait(&mut fixed, 20), fixed.addresses().len()), (vec![], 2));
}

#[test]
fn a_task_waits_for_an_address() {
    let mut runtime = Runtime::new(stack(true, false));
    let task = runtime.spawn(async { runtime::addresses().await });
    runtime.poll();
    runtime.with_stack(|stack| {
        let [discover] = &wait(stack, 2)[..] else { panic!("no message") };
        say(stack, DhcpMessageType::Offer, asked(discover).transaction);
        let [request] = &wait(stack, 2)[..] else { panic!("no request") };
        say(stack, DhcpMessageType::Ack, asked(request).transaction);
    });
    assert!(!task.is_finished());
    runtime.with_stack(|stack| wait(stack, 2));
    assert_eq!(runtime.block_on(task).unwrap(), [IpNet::new_assert(IpAddr::V4(LEASED), 24)]);
}

#[test]
fn a_group_cannot_ask() {
    let config = Config::automatic(MacAddr(STACK_MAC.0));
    let wires = vec![Memory::default(), Memory::default()];
    let error = Stack::group(wires, &config, Steering::computed(2)).unwrap_err();
    assert_eq!(error, ConfigError::AutomaticGroup);
    let mut none = config;
    (none.dhcp, none.slaac) = (false, false);
    assert_eq!(Stack::new(Memory::default(), none).unwrap_err(), ConfigError::NoAddress);
}
