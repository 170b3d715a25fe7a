// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! ICMP messages about segments that were not delivered.

use crate::hosts::other_frame;
use crate::peer::{PEER, Peer, STACK, config, events, peer_socket};
use core::time::Duration;
use dpdk_sockets::{Ended, Event};
use smoltcp::wire::{Icmpv4Packet, IpProtocol, TcpControl, TcpSeqNumber};

const NET_UNREACHABLE: u8 = 0;
pub(crate) const PORT_UNREACHABLE: u8 = 3;
const TOO_BIG: u8 = 4;

/// An ICMP message "destination unreachable" about a segment of the stack, from its port to the peer's.
pub(crate) fn message(code: u8, mtu: u16, ports: (u16, u16), seq: TcpSeqNumber) -> Vec<u8> {
    let mut icmp = vec![3, code, 0, 0, 0, 0];
    icmp.extend(mtu.to_be_bytes());
    icmp.extend([0x45, 0, 5, 0xdc, 0, 1, 0x40, 0, 63, 6, 0, 0]);
    icmp.extend(STACK.octets());
    icmp.extend(PEER.octets());
    icmp.extend(ports.0.to_be_bytes());
    icmp.extend(ports.1.to_be_bytes());
    icmp.extend(seq.0.to_be_bytes());
    Icmpv4Packet::new_unchecked(&mut icmp[..]).fill_checksum();
    icmp
}

fn tell(peer: &mut Peer, icmp: &[u8]) {
    peer.stack.wire_mut().to_stack.push_back(other_frame(IpProtocol::Icmp, icmp));
    peer.stack.poll();
    assert!(peer.stack.wire().from_stack.is_empty(), "a message is not answered");
}

/// What a connection sends of 3,000 bytes at first: the lengths of its segments, and the number of the first one.
fn lengths(peer: &mut Peer, id: dpdk_sockets::ConnectionId) -> (Vec<usize>, TcpSeqNumber) {
    peer.stack.send(id, &[1; 3_000]).unwrap();
    let got = peer.poll();
    (got.iter().map(|got| got.data.len()).collect(), got[0].seq)
}

/// RFC 1191.
#[test]
fn packets_become_as_short_as_the_path_needs() {
    let (mut peer, id) = Peer::connected();
    let (sent, first) = lengths(&mut peer, id);
    assert_eq!(sent, [1_460, 1_460, 80]);
    let ports = (80, peer.ports.0);
    tell(&mut peer, &message(TOO_BIG, 1_420, ports, first));
    // The engine repeats what was lost after its retransmission time.
    let again = peer.wait(Duration::from_secs(2));
    assert_eq!((again[0].seq, again[0].data.len()), (first, 1_360));
    peer.ack = Some(first + 3_000);
    peer.send(TcpControl::None, b"");
    peer.poll();

    // The next connection knows it, until longer packets are tried again.
    for (seconds, length) in [(0, 1_360), (600, 1_460)] {
        peer.wait(Duration::from_secs(seconds));
        events(&mut peer.stack);
        peer.ports.0 += 1;
        peer.handshake();
        let Some(Event::Accepted(_, id)) = peer.stack.next_event() else { panic!("not accepted") };
        let (sent, first) = lengths(&mut peer, id);
        assert_eq!(sent[0], length);
        peer.ack = Some(first + 3_000);
        peer.send(TcpControl::None, b"");
        peer.poll();
    }
}

/// RFC 5927: whoever does not see the connection does not know what is on its way.
#[test]
fn guessed_messages_change_nothing() {
    let (mut peer, id) = Peer::connected();
    let (_, first) = lengths(&mut peer, id);
    let ports = (80, peer.ports.0);
    for message in [
        message(TOO_BIG, 1_006, ports, first - 1),
        message(TOO_BIG, 1_006, ports, first + 3_000),
        message(TOO_BIG, 1_006, (80, 9), first),
        message(TOO_BIG, 1_006, (81, peer.ports.0), first),
    ] {
        tell(&mut peer, &message);
    }
    assert_eq!(peer.stack.counters().ignored, 4);
    let mut damaged = message(TOO_BIG, 1_006, ports, first);
    damaged[7] ^= 1;
    tell(&mut peer, &damaged);
    // Longer than before, or nothing to do with the length.
    tell(&mut peer, &message(TOO_BIG, 1_500, ports, first));
    tell(&mut peer, &message(NET_UNREACHABLE, 0, ports, first));
    tell(&mut peer, &message(PORT_UNREACHABLE, 0, ports, first));
    assert_eq!(peer.wait(Duration::from_secs(2))[0].data.len(), 1_460);
    assert_eq!(events(&mut peer.stack), []);
}

/// RFC 1122, section 4.2.3.9.
#[test]
fn a_handshake_ends_where_there_is_no_way() {
    for (code, how) in [(NET_UNREACHABLE, Ended::Unreachable), (PORT_UNREACHABLE, Ended::Refused)] {
        let mut peer = Peer::new(config());
        let id = peer.stack.connect(peer_socket(443)).unwrap();
        let [syn] = &peer.poll()[..] else { panic!("no SYN") };
        let (ports, seq) = (syn.ports, syn.seq);
        tell(&mut peer, &message(code, 0, ports, seq + 1));
        assert_eq!(events(&mut peer.stack), [], "of a segment that was not sent");
        peer.stack.wire_mut().to_stack.push_back(other_frame(IpProtocol::Icmp, &message(code, 0, ports, seq)));
        peer.poll();
        assert_eq!(events(&mut peer.stack), [Event::Ended(id, how)]);
    }
}

/// A peer's handshake goes on: its own messages say whether it can be reached.
#[test]
fn a_listener_is_not_disturbed() {
    let mut peer = Peer::new(config());
    peer.send(TcpControl::Syn, b"");
    let [syn] = &peer.poll()[..] else { panic!("no SYN-ACK") };
    let (seq, ports) = (syn.seq, (80, peer.ports.0));
    tell(&mut peer, &message(NET_UNREACHABLE, 0, ports, seq));
    peer.ack = Some(seq + 1);
    peer.send(TcpControl::None, b"");
    peer.poll();
    assert!(matches!(events(&mut peer.stack)[..], [Event::Accepted(..)]));
}

#[test]
fn messages_can_end_anywhere() {
    let (mut peer, id) = Peer::connected();
    let (_, first) = lengths(&mut peer, id);
    let whole = message(TOO_BIG, 1_006, (80, peer.ports.0), first);
    for len in 0..whole.len() {
        let mut part = whole[..len].to_vec();
        if len >= 8 {
            Icmpv4Packet::new_unchecked(&mut part[..]).fill_checksum();
        }
        tell(&mut peer, &part);
    }
    assert_eq!(peer.wait(Duration::from_secs(2))[0].data.len(), 1_460);
}

/// An ICMP message of this type and code about a segment of the stack.
fn message_of(kind: u8, code: u8, ports: (u16, u16), seq: TcpSeqNumber) -> Vec<u8> {
    let mut icmp = message(code, 0, ports, seq);
    icmp[0] = kind;
    Icmpv4Packet::new_unchecked(&mut icmp[..]).fill_checksum();
    icmp
}

/// MUST-54, MUST-55 and MUST-56; RFC 5927, section 4, for the others: whatever routers say, a connection goes on, and as fast as before.
#[test]
fn no_message_ends_a_connection() {
    let (mut peer, id) = Peer::connected();
    let (sent, first) = lengths(&mut peer, id);
    let ports = (80, peer.ports.0);
    for kind in 0..=20 {
        for code in (0..16).filter(|code| (kind, *code) != (3, TOO_BIG)) {
            let icmp = message_of(kind, code, ports, first);
            peer.stack.wire_mut().to_stack.push_back(other_frame(IpProtocol::Icmp, &icmp));
            peer.stack.poll();
        }
    }
    assert_eq!(events(&mut peer.stack), []);
    // The only ones that are answered are questions (type 8).
    let answers = core::mem::take(&mut peer.stack.wire_mut().from_stack);
    assert!(answers.iter().all(|frame| frame[34] == 0), "echoes only");
    peer.ack = Some(first + 3_000);
    peer.send(TcpControl::None, b"");
    assert_eq!(peer.poll(), []);
    assert_eq!(lengths(&mut peer, id).0, sent);
}

/// Neither time that has run out nor a wrong field says that there is no way.
#[test]
fn a_handshake_ends_by_unreachable_only() {
    for kind in [4, 5, 11, 12] {
        for code in 0..6 {
            let mut peer = Peer::new(config());
            peer.stack.connect(peer_socket(443)).unwrap();
            let syn = peer.poll().remove(0);
            tell(&mut peer, &message_of(kind, code, syn.ports, syn.seq));
            assert_eq!(events(&mut peer.stack), [], "{kind} {code}");
        }
    }
}
