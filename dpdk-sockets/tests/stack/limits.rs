// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

use crate::peer::{PEER, Peer, STACK, config, events, peer_socket};
use core::net::{IpAddr, Ipv4Addr};
use core::time::Duration;
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{Config, ConfigError, ConnectError, Event, Route, Stack};
use smoltcp::wire::{TcpControl, TcpSeqNumber};

/// RFC 4987, section 3.6.
#[test]
fn beyond_the_backlog_handshakes_are_by_cookie() {
    let mut config = config();
    config.backlog = 3;
    let mut peer = Peer::new(config);
    for port in 1..=5 {
        (peer.ports.0, peer.ack) = (port, None);
        peer.send(TcpControl::Syn, b"");
        let [syn] = &peer.poll()[..] else { panic!("no SYN-ACK") };
        peer.ack = Some(syn.seq + 1);
    }
    assert_eq!((peer.stack.connections(), peer.stack.counters().cookies), (3, 2));
    // The last one goes on, with data at once; a number that was not a cookie does not.
    let (seq, ack) = (peer.seq, peer.ack.unwrap());
    peer.segment(TcpControl::Psh, seq, Some(ack + 1), b"wrong");
    assert_eq!(peer.poll()[0].control, TcpControl::Rst);
    peer.send(TcpControl::Psh, b"request");
    assert_eq!(peer.poll()[0].ack, Some(peer.seq));
    let [Event::Accepted(_, id), Event::Readable(_)] = events(&mut peer.stack)[..] else { panic!("not accepted") };
    let mut bytes = [0; 9];
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(7)));
    peer.stack.send(id, &[3; 2_000]).unwrap();
    let got = peer.poll();
    assert_eq!((got[0].data.len(), got[1].data.len()), (1_460, 540), "the segment size was in the cookie");
    assert_eq!(Some(got[0].seq), peer.ack);
}

#[test]
fn without_a_flood_no_number_is_a_cookie() {
    let mut peer = Peer::new(config());
    for ack in 0..100 {
        peer.segment(TcpControl::None, peer.seq, Some(TcpSeqNumber(ack << 24)), b"");
    }
    assert!(peer.poll().iter().all(|got| got.control == TcpControl::Rst));
    assert_eq!(peer.stack.connections(), 0);
}

#[test]
fn half_open_connections_of_one_listener_do_not_concern_another() {
    let mut config = config();
    config.backlog = 1;
    let mut peer = Peer::new(config);
    peer.send(TcpControl::Syn, b"");
    peer.poll();
    peer.stack.listen(81).unwrap();
    peer.ports = (9, 81);
    peer.handshake();
    assert!(matches!(events(&mut peer.stack)[..], [Event::Accepted(..)]));
    assert_eq!(peer.stack.counters().cookies, 0);
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
fn connections_of_one_peer_are_limited() {
    let mut config = config();
    config.connections_per_peer = Some(2);
    config.backlog = 1;
    let mut peer = Peer::new(config);
    let mut ids = Vec::new();
    for port in 1..=2 {
        peer.ports.0 = port;
        peer.handshake();
        let [Event::Accepted(_, id)] = events(&mut peer.stack)[..] else { panic!("not accepted") };
        ids.push(id);
    }
    (peer.ports.0, peer.ack) = (3, None);
    peer.send(TcpControl::Syn, b"");
    assert_eq!(peer.poll(), []);
    assert_eq!((peer.stack.counters().peer_overflows, peer.stack.connections()), (1, 2));
    // Others may connect, and so may the peer itself when one has ended; what the stack opens is not counted.
    peer.stack.connect(peer_socket(443)).unwrap();
    peer.poll();
    peer.address = Ipv4Addr::new(192, 0, 2, 3);
    peer.handshake();
    peer.address = PEER;
    peer.stack.abort(ids[0]).unwrap();
    peer.poll();
    peer.handshake();
    assert_eq!(peer.stack.counters().peer_overflows, 1);
}

/// A cookie is answered before anything is known of the peer, and its connection counts as any other.
#[test]
fn a_cookie_opens_no_connection_beyond_the_limit_of_a_peer() {
    let mut config = config();
    config.connections_per_peer = Some(1);
    config.backlog = 0;
    let mut peer = Peer::new(config);
    let syn_ack = |peer: &mut Peer, port| {
        (peer.ports.0, peer.ack) = (port, None);
        peer.send(TcpControl::Syn, b"");
        let [syn] = &peer.poll()[..] else { panic!("no SYN-ACK") };
        syn.seq + 1
    };
    let acks = [syn_ack(&mut peer, 1), syn_ack(&mut peer, 2)];
    let seq = peer.seq;
    for (port, ack) in [1, 2].into_iter().zip(acks) {
        peer.ports.0 = port;
        // The second SYN has moved the peer's number.
        let seq = if port == 1 { seq - 1 } else { seq };
        peer.segment(TcpControl::None, seq, Some(ack), b"");
        peer.poll();
    }
    assert_eq!((peer.stack.connections(), peer.stack.counters().peer_overflows), (1, 1));
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
    assert_eq!(refused(|config| config.addresses.clear()), ConfigError::NoAddress);
    for address in ["255.255.255.255", "224.0.0.1", "::", "::1", "ff02::1", "::ffff:192.0.2.1"] {
        let address: IpAddr = address.parse().unwrap();
        let mut config = config();
        config.addresses.push(address.into());
        assert_eq!(Stack::new(Memory::default(), config).unwrap_err(), ConfigError::Address(address));
    }
    assert_eq!(refused(|config| config.vlan = Some(0)), ConfigError::Vlan(0));
    assert_eq!(refused(|config| config.vlan = Some(4_095)), ConfigError::Vlan(4_095));
    let outside = Route::default_via([192, 0, 3, 1].into());
    let own = Route::default_via(STACK.into());
    let other_version = Route { to: "2001:db8::/32".parse().unwrap(), gateway: PEER.into() };
    for route in [outside, own, other_version] {
        let mut config = config();
        config.routes.push(route);
        assert_eq!(Stack::new(Memory::default(), config).unwrap_err(), ConfigError::Gateway(route.gateway));
    }
    assert_eq!(refused(|config| config.mtu = 575), ConfigError::Mtu(575, 576));
    let ipv6 = |config: &mut Config| {
        config.addresses.push("2001:db8::1/64".parse().unwrap());
        config.mtu = 1_279;
    };
    assert_eq!(refused(ipv6), ConfigError::Mtu(1_279, 1_280));
    assert_eq!(refused(|config| config.receive_buffer = 65_536), ConfigError::Buffer(65_536));
    assert_eq!(refused(|config| config.initial_buffer = 0), ConfigError::Buffer(0));
    assert_eq!(refused(|config| config.send_buffer = 0), ConfigError::Buffer(0));
    assert_eq!(refused(|config| config.keep_alive = Some(Duration::ZERO)), ConfigError::Time("keep_alive"));
    assert_eq!(refused(|config| config.idle_timeout = Some(Duration::ZERO)), ConfigError::Time("idle_timeout"));
    let mut config = config();
    config.routes.push(Route::default_via(PEER.into()));
    assert!(Stack::new(Memory::default(), config).is_ok());
}
