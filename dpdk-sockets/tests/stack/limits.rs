// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

use crate::peer::{PEER, Peer, config, events, peer_socket};
use core::net::Ipv4Addr;
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{Config, ConfigError, ConnectError, Event, Stack};
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
    assert_eq!(
        refused(|config| config.address = Ipv4Addr::BROADCAST),
        ConfigError::Address(Ipv4Addr::BROADCAST.into())
    );
    assert_eq!(refused(|config| config.prefix_len = 33), ConfigError::PrefixLength(33));
    let outside = Ipv4Addr::new(192, 0, 3, 1);
    assert_eq!(
        refused(|config| config.gateway = Some(Ipv4Addr::new(192, 0, 3, 1))),
        ConfigError::Gateway(outside.into())
    );
    assert_eq!(refused(|config| config.mtu = 575), ConfigError::Mtu(575));
    assert_eq!(refused(|config| config.receive_buffer = 65_536), ConfigError::Buffer(65_536));
    assert_eq!(refused(|config| config.send_buffer = 0), ConfigError::Buffer(0));
    let mut config = config();
    config.gateway = Some(PEER);
    assert!(Stack::new(Memory::default(), config).is_ok());
}
