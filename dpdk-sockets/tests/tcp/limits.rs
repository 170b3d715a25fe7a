// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

use crate::peer::{PEER, Peer, config, events, peer_socket};
use core::net::Ipv4Addr;
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{Config, ConfigError, ConnectError, Event, Stack};
use smoltcp::wire::TcpControl;

#[test]
fn half_open_connections_are_limited_for_each_listener() {
    let mut config = config();
    config.backlog = 3;
    let mut peer = Peer::new(config);
    let mut answers = 0;
    for port in 1..=5 {
        (peer.ports.0, peer.ack) = (port, None);
        peer.send(TcpControl::Syn, b"");
        answers += peer.poll().len();
    }
    assert_eq!((answers, peer.stack.counters().overflows), (3, 2));
    // Another listener is not concerned, and one that is complete makes place.
    peer.stack.listen(81).unwrap();
    peer.ports = (9, 81);
    peer.handshake();
    peer.ports = (1, crate::peer::PORT);
    peer.send(TcpControl::Rst, b"");
    peer.segment(TcpControl::Rst, peer.seq, None, b"");
    assert!(matches!(events(&mut peer.stack)[..], [Event::Accepted(..)]));
}

#[test]
fn connections_are_limited() {
    let mut config = config();
    config.connections = 2;
    let mut peer = Peer::new(config);
    peer.handshake();
    peer.stack.connect(peer_socket(443)).unwrap();
    assert_eq!(peer.stack.connect(peer_socket(443)), Err(ConnectError::Full(2)));
    (peer.ports.0, peer.ack) = (40_001, None);
    peer.poll();
    peer.send(TcpControl::Syn, b"");
    assert_eq!(peer.poll(), []);
    assert_eq!(peer.stack.counters().overflows, 1);
}

#[test]
fn every_local_port_is_used_once() {
    let mut peer = Peer::new(config());
    let mut config = config();
    config.connections = 20_000;
    (config.receive_buffer, config.send_buffer) = (1, 1);
    peer.stack = Stack::new(Memory::default(), config).unwrap();
    for _ in 49_152..=65_535 {
        peer.stack.connect(peer_socket(443)).unwrap();
    }
    assert_eq!(peer.stack.connect(peer_socket(443)), Err(ConnectError::NoPort(peer_socket(443))));
    assert!(peer.stack.connect(peer_socket(444)).is_ok());
}

#[test]
fn what_cannot_be_is_refused_by_name() {
    let refused = |change: fn(&mut Config)| {
        let mut config = config();
        change(&mut config);
        Stack::new(Memory::default(), config).unwrap_err()
    };
    assert_eq!(refused(|config| config.address = Ipv4Addr::BROADCAST), ConfigError::Address(Ipv4Addr::BROADCAST));
    assert_eq!(refused(|config| config.prefix_len = 33), ConfigError::PrefixLength(33));
    let outside = Ipv4Addr::new(192, 0, 3, 1);
    assert_eq!(refused(|config| config.gateway = Some(Ipv4Addr::new(192, 0, 3, 1))), ConfigError::Gateway(outside));
    assert_eq!(refused(|config| config.mtu = 575), ConfigError::Mtu(575));
    assert_eq!(refused(|config| config.receive_buffer = 65_536), ConfigError::Buffer(65_536));
    assert_eq!(refused(|config| config.send_buffer = 0), ConfigError::Buffer(0));
    let mut config = config();
    config.gateway = Some(PEER);
    assert!(Stack::new(Memory::default(), config).is_ok());
}
