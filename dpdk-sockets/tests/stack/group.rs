// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Several stacks of one host, and a host at the other end of their wire.

use crate::hosts::other_frame;
use crate::pair::{IPV4, IPV6, echo};
use crate::undelivered::{PORT_UNREACHABLE, message};
use core::net::SocketAddr;
use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_sockets::group::Steering;
use dpdk_sockets::watch::TcpState;
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{Config, ConfigError, ConnectError, ConnectionId, Ended, Event, IpNet, ListenError, Stack};
use smoltcp::wire::{EthernetFrame, EthernetProtocol, IpProtocol, Ipv4Packet, TcpPacket};
use std::collections::{HashMap, HashSet};

const STACKS: u16 = 3;

/// The bytes of each buffer of a connection.
const BUFFER: usize = 8_192;

/// As many messages wait for a stack.
const MOST_WAITING: u64 = 256;

/// To which stack of the group a device gives a frame.
#[derive(Clone, Copy, Debug)]
enum Device {
    /// TCP by the steering, all else to the first one, as most NICs do.
    Steers,
    /// All to one.
    Fixed(usize),
    /// To one after the other.
    Turns,
}

struct World {
    group: Vec<Stack<Memory>>,
    host: Stack<Memory>,
    host_socket: SocketAddr,
    group_socket: SocketAddr,
    steering: Steering,
    device: Device,
    turn: usize,
}

impl World {
    fn new(addresses: [&str; 2], device: Device) -> Self {
        let [group, host] = addresses.map(|address| address.parse::<IpNet>().unwrap());
        let steering = Steering::computed(STACKS);
        let wires = (0..STACKS).map(|_| Memory::default()).collect();
        let mut config = Config::new(MacAddr([2, 0, 0, 0, 0, 1]), group);
        (config.receive_buffer, config.send_buffer) = (BUFFER, BUFFER);
        let group_socket = (group.addr(), 80).into();
        let group = Stack::group(wires, &config, steering.clone()).unwrap();
        (config.mac, config.addresses) = (MacAddr([2, 0, 0, 0, 0, 2]), vec![host]);
        let mut host_stack = Stack::new(Memory::default(), config).unwrap();
        host_stack.listen(80).unwrap();
        let host_socket = (host.addr(), 80).into();
        Self { group, host: host_stack, host_socket, group_socket, steering, device, turn: 0 }
    }

    /// The stack to which the device gives a frame of the host.
    fn place(&mut self, frame: &[u8]) -> usize {
        match self.device {
            Device::Fixed(number) => number,
            Device::Turns => {
                self.turn += 1;
                self.turn % self.group.len()
            }
            Device::Steers => {
                let frame = EthernetFrame::new_checked(frame).unwrap();
                if frame.ethertype() != EthernetProtocol::Ipv4 {
                    return 0;
                }
                let ip = Ipv4Packet::new_checked(frame.payload()).unwrap();
                if ip.next_header() != IpProtocol::Tcp {
                    return 0;
                }
                let tcp = TcpPacket::new_checked(ip.payload()).unwrap();
                let local = SocketAddr::new(ip.dst_addr().into(), tcp.dst_port());
                self.steering.stack(local, SocketAddr::new(ip.src_addr().into(), tcp.src_port()))
            }
        }
    }

    /// Moves frames, and the time by a tenth of a millisecond.
    fn step(&mut self) {
        for frame in core::mem::take(&mut self.host.wire_mut().from_stack) {
            let place = self.place(&frame);
            self.group[place].wire_mut().to_stack.push_back(frame);
        }
        let now = self.host.wire().now + Duration::from_micros(100);
        for stack in &mut self.group {
            stack.wire_mut().now = now;
            stack.poll();
            self.host.wire_mut().to_stack.append(&mut stack.wire_mut().from_stack);
        }
        self.host.wire_mut().now = now;
        self.host.poll();
    }

    fn sum(&self, counter: impl Fn(&dpdk_sockets::Counters) -> u64) -> u64 {
        self.group.iter().map(|stack| counter(&stack.counters())).sum()
    }

    /// The host opens connections to the group, sends on each, and gets it back. Returns how many each stack has accepted.
    fn serve(&mut self, connections: usize) -> Vec<u64> {
        for stack in &mut self.group {
            stack.listen(80).unwrap();
        }
        let mut held: Vec<_> = self.group.iter().map(|_| HashMap::new()).collect();
        let ids: Vec<_> = (0..connections).map(|_| self.host.connect(self.group_socket).unwrap()).collect();
        let text = |id: ConnectionId| format!("{id:?}").repeat(300);
        let mut received: HashMap<_, Vec<u8>> = ids.iter().map(|id| (*id, Vec::new())).collect();
        while !received.is_empty() {
            self.step();
            for (stack, held) in self.group.iter_mut().zip(&mut held) {
                echo(stack, held);
            }
            while let Some(event) = self.host.next_event() {
                match event {
                    Event::Connected(id) => {
                        let text = text(id);
                        assert_eq!(self.host.send(id, text.as_bytes()), Ok(text.len()));
                        self.host.shutdown(id).unwrap();
                    }
                    Event::Readable(id) => {
                        let mut bytes = [0; 4_096];
                        while let Some(len @ 1..) = self.host.recv(id, &mut bytes).unwrap() {
                            received.get_mut(&id).unwrap().extend(&bytes[..len]);
                        }
                    }
                    Event::Ended(id, how) => {
                        assert_eq!(how, Ended::Closed);
                        assert_eq!(received.remove(&id).unwrap(), text(id).as_bytes());
                        self.host.close(id).unwrap();
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
        self.group.iter().map(|stack| stack.counters().accepted).collect()
    }
}

#[test]
fn each_stack_serves_the_connections_that_the_device_gives_it() {
    let mut world = World::new(IPV4, Device::Steers);
    let accepted = world.serve(100);
    assert!(accepted.iter().all(|accepted| *accepted > 10) && accepted.iter().sum::<u64>() == 100, "{accepted:?}");
    assert_eq!(world.sum(|counters| counters.passed_on), 0);
}

#[test]
fn what_comes_to_another_stack_is_passed_on() {
    for addresses in [IPV4, IPV6] {
        for device in [Device::Fixed(1), Device::Turns] {
            let mut world = World::new(addresses, device);
            let accepted = world.serve(100);
            assert!(accepted.iter().all(|accepted| *accepted > 10), "{device:?}: {accepted:?}");
            assert_eq!(accepted.iter().sum::<u64>(), 100);
            assert!(world.sum(|counters| counters.passed_on) > 200);
            assert_eq!(world.sum(|counters| counters.not_passed_on), 0);
        }
    }
}

/// The answers come to the stack that has asked, and what only the first one has heard of ARP is known to all.
#[test]
fn each_stack_connects_by_ports_of_its_own() {
    let mut world = World::new(IPV4, Device::Steers);
    let mut ports = HashSet::new();
    for number in 0..usize::from(STACKS) {
        for _ in 0..20 {
            let id = world.group[number].connect(world.host_socket).unwrap();
            let local = world.group[number].info(id).unwrap().local;
            assert_eq!(world.steering.stack(local, world.host_socket), number);
            assert!(ports.insert(local.port()), "two stacks use port {}", local.port());
        }
    }
    (0..10).for_each(|_| world.step());
    for stack in &mut world.group {
        let connected = core::iter::from_fn(|| stack.next_event()).filter(|event| matches!(event, Event::Connected(_)));
        assert_eq!(connected.count(), 20);
    }
    assert_eq!(world.sum(|counters| counters.passed_on), 0);
}

/// All ports of a stack can be used, and no others.
#[test]
fn a_stack_runs_out_of_its_ports() {
    let mut world = World::new(IPV4, Device::Steers);
    let stack = &mut world.group[1];
    let error = (0..20_000).find_map(|_| stack.connect(world.host_socket).err()).unwrap();
    assert_eq!(error, ConnectError::NoPort(world.host_socket));
    let ports = (49_152..=u16::MAX).map(|port| SocketAddr::new(world.group_socket.ip(), port));
    let own = ports.filter(|local| world.steering.stack(*local, world.host_socket) == 1);
    assert_eq!(stack.connections(), own.count());
}

/// The first stack gets the message that nobody serves what another one has sent.
#[test]
fn icmp_messages_reach_the_stack_that_they_are_about() {
    let mut world = World::new(IPV4, Device::Steers);
    world.group[2].connect(world.host_socket).unwrap();
    (0..10).for_each(|_| world.step());
    assert!(matches!(world.group[2].next_event(), Some(Event::Connected(_))));
    // The host does not get the next SYN.
    world.host.wire_mut().room = 0;
    let id = world.group[2].connect(world.host_socket).unwrap();
    world.step();
    let frame = world.host.wire_mut().to_stack.pop_back().unwrap();
    let syn = TcpPacket::new_checked(&frame[34..]).unwrap();
    let icmp = message(PORT_UNREACHABLE, 0, (syn.src_port(), syn.dst_port()), syn.seq_number());
    world.group[0].wire_mut().to_stack.push_back(other_frame(IpProtocol::Icmp, &icmp));
    world.step();
    assert_eq!(world.group[2].next_event(), Some(Event::Ended(id, Ended::Refused)));
}

#[test]
fn a_datagram_finds_the_stack_that_serves_it() {
    let mut world = World::new(IPV4, Device::Fixed(1));
    let socket = world.group[0].bind_udp(53).unwrap();
    let (from, other) = (world.host.bind_udp(1_000).unwrap(), SocketAddr::new(world.group_socket.ip(), 54));
    let served = SocketAddr::new(world.group_socket.ip(), 53);
    assert_eq!(world.host.send_to(from, b"question", served), Ok(true));
    assert_eq!(world.host.send_to(from, b"nobody", other), Ok(true));
    (0..10).for_each(|_| world.step());
    let mut bytes = [0; 100];
    let from = SocketAddr::new(world.host_socket.ip(), 1_000);
    assert_eq!(world.group[0].recv_from(socket, &mut bytes), Ok(Some((8, from))));
    assert_eq!(world.group[0].recv_from(socket, &mut bytes), Ok(None));
    // From the second to the first, by the third, and the other one by all of them.
    assert_eq!(world.sum(|counters| counters.passed_on), 4);
}

#[test]
fn a_stack_that_is_not_polled_loses_only_what_is_its_own() {
    let mut world = World::new(IPV4, Device::Fixed(1));
    for stack in &mut world.group {
        stack.listen(80).unwrap();
    }
    let idle = world.group.pop().unwrap();
    for _ in 0..1_500 {
        world.host.connect(world.group_socket).unwrap();
        world.step();
    }
    (0..10).for_each(|_| world.step());
    for connection in world.host.list() {
        let is_idle = world.steering.stack(world.group_socket, connection.local) == 2;
        let state = if is_idle { TcpState::SynSent } else { TcpState::Established };
        assert_eq!(connection.state, state);
    }
    let lost = world.sum(|counters| counters.not_passed_on);
    assert!(lost > 0, "it has room for {MOST_WAITING} frames only");
    drop(idle);
    while world.sum(|counters| counters.not_passed_on) == lost {
        world.host.connect(world.group_socket).unwrap();
        world.step();
    }
}

#[test]
fn a_group_has_a_stack_for_each_queue() {
    let config = Config::new(MacAddr([2, 0, 0, 0, 0, 1]), "192.0.2.1/24".parse().unwrap());
    for (stacks, wires) in [(3, 2), (2, 3), (1, 0), (0, 0)] {
        let made = Stack::group((0..wires).map(|_| Memory::default()).collect(), &config, Steering::computed(stacks));
        match made {
            Ok(stacks) => assert!(stacks.is_empty() && wires == 0),
            Err(error) => assert_eq!(error, ConfigError::Steering(stacks.into(), wires)),
        }
    }
    let mut alone = Stack::group(vec![Memory::default()], &config, Steering::computed(1)).unwrap();
    alone[0].listen(80).unwrap();
    assert_eq!(alone[0].listen(80), Err(ListenError::InUse(80)));
}
