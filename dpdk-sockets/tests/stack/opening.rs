// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

use crate::peer::{PEER, PORT, Peer, STACK, config, events, peer_socket};
use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use core::time::Duration;
use dpdk_sockets::{ConnectError, ConnectionError, Ended, Event, ListenError};
use smoltcp::wire::{TcpControl, TcpSeqNumber};

const RST: TcpControl = TcpControl::Rst;
const SYN: TcpControl = TcpControl::Syn;

#[test]
fn a_peer_connects() {
    let (mut peer, id) = Peer::connected();
    assert_eq!(peer.stack.peer(id), Ok(peer_socket(40_000)));
    assert_eq!(events(&mut peer.stack), []);
}

#[test]
fn the_stack_connects() {
    let mut peer = Peer::new(config());
    let id = peer.stack.connect(peer_socket(443)).unwrap();
    assert_eq!(peer.stack.send(id, b"early"), Err(ConnectionError::NotEstablished));
    let [syn] = &peer.poll()[..] else { panic!("no SYN") };
    assert_eq!((syn.control, syn.ack, syn.ports.1), (SYN, None, 443));
    assert!(syn.ports.0 >= 49_152);
    (peer.ports, peer.ack) = ((443, syn.ports.0), Some(syn.seq + 1));
    peer.send(SYN, b"");
    let [ack] = &peer.poll()[..] else { panic!("no ACK") };
    assert_eq!((ack.control, ack.seq, ack.ack), (TcpControl::None, syn.seq + 1, Some(peer.seq)));
    assert_eq!(events(&mut peer.stack), [Event::Connected(id)]);
}

/// RFC 9293, section 3.5, figure 8, and MUST-10.
#[test]
fn both_connect_at_once() {
    let mut peer = Peer::new(config());
    let id = peer.stack.connect(peer_socket(443)).unwrap();
    let [syn] = &peer.poll()[..] else { panic!("no SYN") };
    peer.ports = (443, syn.ports.0);
    peer.send(SYN, b"");
    let got = peer.poll();
    assert!(got.iter().all(|got| got.ack == Some(peer.seq)), "{got:?}");
    peer.ack = Some(syn.seq + 1);
    peer.send(TcpControl::None, b"");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Connected(id)]);
}

#[test]
fn a_connection_to_a_port_without_listener_is_refused() {
    let mut peer = Peer::new(config());
    peer.ports.1 = 81;
    peer.send(SYN, b"");
    let [reset] = &peer.poll()[..] else { panic!("no RST") };
    assert_eq!((reset.control, reset.seq, reset.ack), (RST, TcpSeqNumber(0), Some(peer.seq)));
    peer.segment(TcpControl::None, peer.seq, Some(TcpSeqNumber(77)), b"data");
    let [reset] = &peer.poll()[..] else { panic!("no RST") };
    assert_eq!((reset.control, reset.seq, reset.ack), (RST, TcpSeqNumber(77), None));
    peer.segment(RST, peer.seq, None, b"");
    assert_eq!(peer.poll(), [], "a reset is not answered");
    assert_eq!(peer.stack.counters().refused, 2);
}

#[test]
fn the_peer_refuses() {
    let mut peer = Peer::new(config());
    let id = peer.stack.connect(peer_socket(443)).unwrap();
    let [syn] = &peer.poll()[..] else { panic!("no SYN") };
    peer.ports = (443, syn.ports.0);
    peer.segment(RST, TcpSeqNumber(0), Some(syn.seq + 9), b"");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [], "it acknowledges something else");
    peer.segment(RST, TcpSeqNumber(0), Some(syn.seq + 1), b"");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Ended(id, Ended::Refused)]);
    assert_eq!(peer.stack.recv(id, &mut [0; 9]), Err(ConnectionError::Ended(Ended::Refused)));
    assert_eq!(peer.stack.close(id), Ok(()));
    assert_eq!(peer.stack.close(id), Err(ConnectionError::NoSuchConnection));
}

#[test]
fn the_peer_does_not_answer() {
    let mut peer = Peer::new(config());
    let id = peer.stack.connect(peer_socket(443)).unwrap();
    let got = peer.wait(Duration::from_secs(19));
    assert!(got.len() > 3 && got.iter().all(|got| got.control == SYN), "{got:?}");
    assert_eq!(events(&mut peer.stack), []);
    peer.wait(Duration::from_millis(1_100));
    assert_eq!(events(&mut peer.stack), [Event::Ended(id, Ended::TimedOut)]);
}

#[test]
fn a_handshake_that_is_not_completed_is_forgotten() {
    let mut peer = Peer::new(config());
    peer.send(SYN, b"");
    assert_eq!(peer.poll().len(), 1);
    peer.wait(Duration::from_millis(20_100));
    assert_eq!(events(&mut peer.stack), [], "the program never knew");
    // Its segments are nobody's now.
    peer.segment(TcpControl::None, peer.seq, Some(TcpSeqNumber(1)), b"");
    assert_eq!(peer.poll()[0].control, RST);
}

#[test]
fn a_reset_of_a_handshake_is_silent() {
    let mut peer = Peer::new(config());
    peer.send(SYN, b"");
    peer.poll();
    peer.send(RST, b"");
    assert_eq!(peer.poll(), []);
    assert_eq!(events(&mut peer.stack), []);
    peer.handshake();
    assert!(matches!(events(&mut peer.stack)[..], [Event::Accepted(..)]), "the flow is free again");
}

#[test]
fn a_listener_that_is_closed_meanwhile_resets() {
    let mut peer = Peer::new(config());
    let listener = peer.stack.listen(81).unwrap();
    peer.ports.1 = 81;
    peer.send(SYN, b"");
    let [syn] = &peer.poll()[..] else { panic!("no SYN-ACK") };
    peer.stack.close_listener(listener);
    peer.ack = Some(syn.seq + 1);
    peer.send(TcpControl::None, b"");
    assert_eq!(peer.poll()[0].control, RST);
    assert_eq!(events(&mut peer.stack), []);
    assert!(peer.stack.listen(81).is_ok());
}

/// MUST-41 and MUST-42: several handshakes of one port at a time, and its listener is closed and opened meanwhile.
#[test]
fn a_port_is_listened_on_while_handshakes_go_on() {
    let mut peer = Peer::new(config());
    let listener = peer.stack.listen(81).unwrap();
    let begin = |peer: &mut Peer, port| {
        (peer.ports, peer.ack) = ((port, 81), None);
        peer.send(SYN, b"");
        peer.poll().remove(0)
    };
    let first = begin(&mut peer, 1);
    let second = begin(&mut peer, 2);
    peer.acknowledge(&second);
    peer.poll();
    let [Event::Accepted(_, id)] = events(&mut peer.stack)[..] else { panic!("not accepted") };
    peer.stack.close_listener(listener);
    let again = peer.stack.listen(81).unwrap();
    let third = begin(&mut peer, 3);
    peer.acknowledge(&third);
    peer.poll();
    assert!(matches!(events(&mut peer.stack)[..], [Event::Accepted(by, _)] if by == again));
    assert_eq!(peer.stack.send(id, b"goes on"), Ok(7));
    assert_eq!(peer.poll()[0].data, b"goes on");
    assert_eq!((first.control, first.ports), (SYN, (81, 1)));
}

#[test]
fn bad_ports_and_addresses_are_named() {
    let mut peer = Peer::new(config());
    assert_eq!(peer.stack.listen(0), Err(ListenError::PortZero));
    assert_eq!(peer.stack.listen(PORT), Err(ListenError::InUse(PORT)));
    let outside = SocketAddr::from(([198, 51, 100, 1], 80));
    assert_eq!(peer.stack.connect(outside), Err(ConnectError::NoRoute(outside)));
    let other_version = "[2001:db8::1]:80".parse().unwrap();
    assert_eq!(peer.stack.connect(other_version), Err(ConnectError::NoRoute(other_version)));
    let (peer_address, own) = (PEER.into(), STACK.into());
    let mapped = PEER.to_ipv6_mapped().into();
    for (address, port) in [
        (peer_address, 0),
        (own, 80),
        (Ipv4Addr::BROADCAST.into(), 80),
        (Ipv4Addr::UNSPECIFIED.into(), 80),
        (Ipv6Addr::LOCALHOST.into(), 80),
        (mapped, 80),
    ] {
        let remote = SocketAddr::new(address, port);
        assert_eq!(peer.stack.connect(remote), Err(ConnectError::NoPeer(remote)));
    }
}

/// RFC 6528: each connection has a number that the others do not give away.
#[test]
fn initial_numbers_are_those_that_were_computed() {
    let mut peer = Peer::new(config());
    let mut numbers = Vec::new();
    for port in [1_000, 1_001, 1_000] {
        (peer.ports.0, peer.ack) = (port, None);
        peer.send(SYN, b"");
        numbers.push(peer.poll()[0].seq);
        peer.send(RST, b"");
        peer.poll();
        peer.stack.wire_mut().now += Duration::from_secs(1);
    }
    assert_eq!(numbers[2] - numbers[0], 500_000, "the clock of 4 µs, two seconds later");
    assert_ne!(numbers[0] + 250_000, numbers[1]);
}
