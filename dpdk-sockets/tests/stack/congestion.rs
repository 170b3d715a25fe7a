// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How much is sent at once: slow start, congestion avoidance, and less after losses (RFC 5681, RFC 9438).

use crate::peer::{Got, Peer, config};
use core::time::Duration;
use dpdk_sockets::{Config, CongestionControl, ConnectionId, Event};
use smoltcp::wire::TcpControl;

const BOTH: [CongestionControl; 2] = [CongestionControl::Reno, CongestionControl::Cubic];
const SEGMENT: usize = 1_460;

/// A peer, and a connection that has more to send than it may.
fn sending(control: Option<CongestionControl>) -> (Peer, ConnectionId, Vec<Got>) {
    let mut config = config();
    config.congestion_control = control;
    let mut peer = Peer::new(config);
    peer.handshake();
    let Some(Event::Accepted(_, id)) = peer.stack.next_event() else { panic!("not accepted") };
    let first = send_more(&mut peer, id);
    (peer, id, first)
}

fn send_more(peer: &mut Peer, id: ConnectionId) -> Vec<Got> {
    while peer.stack.send(id, &[1; 10_000]).unwrap() > 0 {}
    peer.poll()
}

/// The same, after so many round trips in which everything has arrived.
fn sending_for(round_trips: usize, control: CongestionControl) -> (Peer, ConnectionId, Vec<Got>) {
    let (mut peer, id, mut sent) = sending(Some(control));
    for _ in 0..round_trips {
        sent = acknowledge_all(&mut peer, id, &sent);
    }
    (peer, id, sent)
}

fn bytes(sent: &[Got]) -> usize {
    sent.iter().map(|got| got.data.len()).sum()
}

/// All of it is acknowledged, segment by segment, and the time goes on by a millisecond. Returns what is sent then.
fn acknowledge_all(peer: &mut Peer, id: ConnectionId, sent: &[Got]) -> Vec<Got> {
    peer.jump(Duration::from_millis(1));
    let mut next = Vec::new();
    for got in sent {
        peer.acknowledge(got);
        next.append(&mut peer.poll());
    }
    next.append(&mut send_more(peer, id));
    next
}

#[test]
fn it_is_there_unless_a_program_wants_none() {
    let config = Config::new(config().mac, config().addresses[0]);
    assert_eq!(config.congestion_control, Some(CongestionControl::Cubic));
    let (_, _, first) = sending(None);
    // The peer's window.
    assert_eq!(bytes(&first), 50_000);
}

/// Section 3.1 of RFC 5681: one more segment for each one that is acknowledged.
#[test]
fn slow_start_doubles_in_a_round_trip() {
    for control in BOTH {
        let (mut peer, id, mut sent) = sending(Some(control));
        assert_eq!(bytes(&sent), 2_048, "{control:?}");
        for _ in 0..4 {
            let before = bytes(&sent);
            sent = acknowledge_all(&mut peer, id, &sent);
            assert!(
                (before * 17 / 10..=before * 2 + SEGMENT).contains(&bytes(&sent)),
                "{control:?}: {before}, {}",
                bytes(&sent)
            );
        }
    }
}

/// Section 3.1: after a time-out, one segment, and then slow start until the half (with CUBIC 0.7) of what was on its way.
#[test]
fn a_time_out_begins_anew_with_one_segment() {
    for control in BOTH {
        let (mut peer, id, sent) = sending_for(3, control);
        let lost = bytes(&sent);
        let again = peer.wait(Duration::from_millis(1_100));
        assert_eq!((again.len(), again[0].seq, again[0].data.len()), (1, sent[0].seq, SEGMENT), "{control:?}");
        let mut rates = Vec::new();
        let mut sent = again;
        for _ in 0..8 {
            sent = acknowledge_all(&mut peer, id, &sent);
            rates.push(bytes(&sent));
        }
        assert_eq!(rates[0], 2 * SEGMENT, "{control:?}");
        // Slow start would have reached 256 segments.
        let last = rates[7];
        assert!(last > lost / 2 && last < 2 * lost, "{control:?}: {lost} were lost, then {rates:?}");
    }
}

/// Section 3.2: three duplicates are a loss, after which less is sent.
#[test]
fn three_duplicates_halve_what_is_sent() {
    for (control, share) in [(CongestionControl::Reno, 0.5), (CongestionControl::Cubic, 0.7)] {
        let (mut peer, id, sent) = sending_for(4, control);
        let flight = bytes(&sent);
        for _ in 0..3 {
            peer.send(TcpControl::None, b"");
        }
        let again = peer.poll();
        assert_eq!(again[0].seq, sent[0].seq, "{control:?}");
        // Everything has arrived after the repetition.
        peer.acknowledge(sent.last().unwrap());
        let after = bytes(&peer.poll()) + bytes(&send_more(&mut peer, id));
        let expected = (flight as f64 * share) as usize;
        assert!(after.abs_diff(expected) <= 2 * SEGMENT, "{control:?}: {flight} were on their way, then {after}");
    }
}

/// Section 3.1: beyond the threshold, far less than twice as much in a round trip.
#[test]
fn congestion_is_avoided_beyond_the_threshold() {
    for control in BOTH {
        let (mut peer, id, sent) = sending_for(4, control);
        for _ in 0..3 {
            peer.send(TcpControl::None, b"");
        }
        peer.poll();
        peer.acknowledge(sent.last().unwrap());
        let mut sent = peer.poll();
        sent.append(&mut send_more(&mut peer, id));
        for _ in 0..5 {
            let before = bytes(&sent);
            sent = acknowledge_all(&mut peer, id, &sent);
            let more = bytes(&sent).saturating_sub(before);
            assert!(more < before / 4, "{control:?}: {before} and {more} more");
        }
    }
}
