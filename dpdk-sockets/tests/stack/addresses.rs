// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the stack makes of the fields of IPv4 (RFC 1122, section 3.2): addresses, options, time to live, service, parts.

use crate::edit::{changed, with_ip_options};
use crate::peer::{PEER, PORT, Peer, config, events};
use core::net::{Ipv4Addr, SocketAddr};
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{ConfigError, ConnectError, Event, IpNet, SendToError, Stack};
use smoltcp::wire::TcpControl;

const SYN: TcpControl = TcpControl::Syn;
/// All hosts of the stack's network.
const ALL: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 255);

/// Where the fields are in a packet.
const SERVICE: usize = 1;
const PARTS: usize = 6;
const TIME_TO_LIVE: usize = 8;
const DESTINATION: usize = 16;

/// The answer to a SYN whose packet was changed.
fn answer(peer: &mut Peer, change: impl FnOnce(&mut [u8])) -> Option<TcpControl> {
    peer.ports.0 += 1;
    peer.ack = None;
    peer.send(SYN, b"");
    peer.change(|frame| changed(frame, change));
    peer.poll().first().map(|got| got.control)
}

/// RFC 1122, sections 3.2.1.6 and 3.2.1.7: a packet that has arrived may have any service, and no time left.
#[test]
fn service_and_time_to_live_are_not_looked_at() {
    let mut peer = Peer::new(config());
    for service in [0, 1, 3, 0x10, 0xb8, 0xff] {
        assert_eq!(answer(&mut peer, |packet| packet[SERVICE] = service), Some(SYN), "{service}");
    }
    for left in [0, 1, 255] {
        assert_eq!(answer(&mut peer, |packet| packet[TIME_TO_LIVE] = left), Some(SYN), "{left}");
    }
}

/// MUST-57, and RFC 1122, section 3.2.1.3.
#[test]
fn packets_to_others_and_to_many_are_ignored() {
    let mut peer = Peer::new(config());
    for to in [PEER, ALL, Ipv4Addr::BROADCAST, Ipv4Addr::UNSPECIFIED, Ipv4Addr::LOCALHOST, Ipv4Addr::new(224, 0, 0, 1)]
    {
        let to_it = |packet: &mut [u8]| packet[DESTINATION..DESTINATION + 4].copy_from_slice(&to.octets());
        assert_eq!(answer(&mut peer, to_it), None, "{to}");
    }
    // A frame to all, or to many, with a packet to the stack.
    for mac in [[0xff; 6], [1, 0, 0x5e, 0, 0, 1]] {
        peer.send(SYN, b"");
        peer.change(|mut frame| {
            frame[..6].copy_from_slice(&mac);
            frame
        });
        assert_eq!(peer.poll(), [], "{mac:?}");
    }
    assert_eq!((peer.stack.connections(), peer.stack.counters().ignored), (0, 8));
}

/// MUST-46 and MUST-63: the address of all hosts of the network is no host's.
#[test]
fn all_hosts_are_no_host() {
    let mut peer = Peer::new(config());
    peer.address = ALL;
    for port in [PORT, 81] {
        peer.ports.1 = port;
        peer.send(SYN, b"");
        assert_eq!(peer.poll(), []);
    }
    assert_eq!((peer.stack.connections(), peer.stack.counters().ignored), (0, 2));
    let all = SocketAddr::new(ALL.into(), 80);
    assert_eq!(peer.stack.connect(all), Err(ConnectError::NoPeer(all)));
    let socket = peer.stack.bind_udp(53).unwrap();
    assert_eq!(peer.stack.send_to(socket, b"", all), Err(SendToError::NoPeer(all)));
    let mut config = config();
    config.addresses = vec![IpNet::new_assert(ALL.into(), 24)];
    assert_eq!(Stack::new(Memory::default(), config).unwrap_err(), ConfigError::Address(ALL.into()));
    // A network of two hosts has no such address (RFC 3021).
    let mut config = crate::peer::config();
    config.addresses = vec!["192.0.2.254/31".parse().unwrap()];
    let mut stack = Stack::new(Memory::default(), config).unwrap();
    assert!(stack.connect(all).is_ok());
}

/// MUST-50, and RFC 1122, section 3.2.1.8: a source route that ends here, a record of the route, timestamps, and what nobody knows.
#[test]
fn options_are_skipped() {
    for options in [
        &[1; 40][..],
        &[0; 4],
        &[7, 7, 4, 0, 0, 0, 0],
        &[68, 8, 5, 0, 0, 0, 0, 0],
        &[131, 7, 8, 192, 0, 2, 9],
        &[130, 11, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        &[150, 4, 1, 2],
        // Lengths that cannot be.
        &[150, 0, 1, 2],
        &[150, 200, 1, 2],
    ] {
        let mut peer = Peer::new(config());
        let with = |peer: &mut Peer| peer.change(|frame| with_ip_options(frame, options));
        peer.send(SYN, b"");
        with(&mut peer);
        let syn = peer.poll().remove(0);
        peer.acknowledge(&syn);
        with(&mut peer);
        peer.send(TcpControl::Psh, b"data");
        with(&mut peer);
        assert_eq!(peer.poll()[0].ack, Some(peer.seq), "{options:?}");
        let [Event::Accepted(_, id), Event::Readable(_)] = events(&mut peer.stack)[..] else { panic!("{options:?}") };
        let mut bytes = [0; 9];
        assert_eq!((peer.stack.recv(id, &mut bytes), &bytes[..4]), (Ok(Some(4)), &b"data"[..]));
        peer.stack.send(id, &[1; 2_000]).unwrap();
        assert_eq!(peer.poll()[0].data.len(), 1_460, "the options of TCP were found: {options:?}");
    }
}

/// RFC 1122, section 3.3.2, wants packets put together: they are counted instead.
#[test]
fn parts_of_packets_are_counted_and_ignored() {
    let mut peer = Peer::new(config());
    for parts in [0x20, 0x00, 0x3f] {
        let low = u8::from(parts != 0x20);
        let is_part = |packet: &mut [u8]| (packet[PARTS], packet[PARTS + 1]) = (parts, low);
        assert_eq!(answer(&mut peer, is_part), None);
    }
    assert_eq!(peer.stack.counters().fragments, 3);
    // "Do not fragment" is no part.
    assert_eq!(answer(&mut peer, |packet| packet[PARTS] = 0x40), Some(SYN));
}

/// RFC 1122, section 3.2.1.1, and lengths that lie.
#[test]
fn headers_that_cannot_be_are_ignored() {
    let mut peer = Peer::new(config());
    for first in [0x05, 0x35, 0x55, 0x65, 0xf5, 0x40, 0x44, 0x4f] {
        peer.send(SYN, b"");
        peer.change(|mut frame| {
            frame[14] = first;
            frame
        });
        assert_eq!(peer.poll(), [], "{first:#x}");
    }
    for len in [0, 19, 20, 39, 45, 65_535_u16] {
        peer.send(SYN, b"");
        peer.change(|mut frame| {
            frame[16..18].copy_from_slice(&len.to_be_bytes());
            smoltcp::wire::Ipv4Packet::new_unchecked(&mut frame[14..]).fill_checksum();
            frame
        });
        assert_eq!(peer.poll(), [], "{len}");
    }
    // A header of TCP that is longer than the segment, and one that is too short.
    for words in [0, 4, 15] {
        assert_eq!(answer(&mut peer, |packet| packet[20 + 12] = words << 4), None, "{words}");
    }
    assert_eq!(peer.stack.connections(), 0);
}
