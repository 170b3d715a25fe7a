// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is repeated, and when (RFC 6298, RFC 5681).

use crate::peer::{Got, Peer, config, peer_socket};
use core::time::Duration;
use dpdk_sockets::{ConnectionId, Event};
use smoltcp::wire::TcpControl;

const NONE: TcpControl = TcpControl::None;
const SECOND: Duration = Duration::from_secs(1);

/// After how many milliseconds each of the next segments comes.
fn times(peer: &mut Peer, number: usize) -> Vec<(u128, Got)> {
    let (mut last, mut times) = (peer.stack.wire().now, Vec::new());
    while times.len() < number {
        for got in peer.jump(Duration::from_millis(10)) {
            times.push(((peer.stack.wire().now - last).as_millis(), got));
            last = peer.stack.wire().now;
        }
    }
    times
}

#[track_caller]
fn assert_seconds(times: &[(u128, Got)], seconds: &[u128]) {
    for ((time, got), seconds) in times.iter().zip(seconds) {
        assert!((seconds * 1_000..=seconds * 1_000 + 20).contains(time), "{time} ms before {got:?}");
    }
}

/// MUST-19, its first part, and SHLD-10.
#[test]
fn the_time_doubles_with_each_repetition() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, b"lost").unwrap();
    let first = peer.poll().remove(0);
    let again = times(&mut peer, 6);
    assert_seconds(&again, &[1, 2, 4, 8, 16, 32]);
    assert!(again.iter().all(|(_, got)| (got.seq, &got.data) == (first.seq, &first.data)));
}

/// MUST-22: SYN, SYN-ACK and FIN are repeated as data are.
#[test]
fn what_opens_and_closes_is_repeated_too() {
    let mut peer = Peer::new(config());
    peer.stack.connect(peer_socket(443)).unwrap();
    peer.poll();
    let again = times(&mut peer, 4);
    assert_seconds(&again, &[1, 2, 4, 8]);
    assert!(again.iter().all(|(_, got)| got.control == TcpControl::Syn));

    let mut peer = Peer::new(config());
    peer.send(TcpControl::Syn, b"");
    let first = peer.poll().remove(0);
    let again = times(&mut peer, 4);
    assert_seconds(&again, &[1, 2, 4, 8]);
    assert!(again.iter().all(|(_, got)| *got == first));

    let (mut peer, id) = Peer::connected();
    peer.stack.shutdown(id).unwrap();
    let first = peer.poll().remove(0);
    let again = times(&mut peer, 6);
    assert_seconds(&again, &[1, 2, 4, 8, 16, 32]);
    assert!(again.iter().all(|(_, got)| *got == first));
}

/// MUST-18: what was repeated measures nothing, or the second time would be longer than the first.
#[test]
fn a_repeated_segment_measures_nothing() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, b"lost").unwrap();
    peer.poll();
    let again = times(&mut peer, 1).remove(0).1;
    peer.acknowledge(&again);
    peer.poll();
    peer.stack.send(id, b"lost too").unwrap();
    let first = peer.poll().remove(0);
    assert_seconds(&times(&mut peer, 1), &[1]);
    peer.acknowledge(&first);
    peer.poll();
    // This one is measured.
    peer.stack.send(id, b"arrives").unwrap();
    let first = peer.poll().remove(0);
    peer.jump(Duration::from_millis(10));
    peer.acknowledge(&first);
    peer.poll();
    peer.stack.send(id, b"lost again").unwrap();
    peer.poll();
    assert_seconds(&times(&mut peer, 1), &[1]);
}

/// RFC 6298, section 2: 0.9 s of round trip, and four times half of that.
#[test]
fn the_time_follows_the_round_trip() {
    let mut peer = Peer::new(config());
    let id = peer.stack.connect(peer_socket(443)).unwrap();
    let syn = peer.poll().remove(0);
    peer.jump(Duration::from_millis(900));
    (peer.ports, peer.ack) = ((443, syn.ports.0), Some(syn.seq + 1));
    peer.send(TcpControl::Syn, b"");
    peer.poll();
    assert_eq!(peer.stack.next_event(), Some(Event::Connected(id)));
    peer.stack.send(id, b"lost").unwrap();
    peer.poll();
    let (time, _) = times(&mut peer, 1).remove(0);
    assert!((2_690..2_720).contains(&time), "{time}");
}

/// A connection of a stack with this minimum time-out, whose handshake took this round trip.
fn measured(least: Duration, round_trip: Duration) -> (Peer, ConnectionId) {
    let mut config = config();
    config.min_retransmission_timeout = least;
    let mut peer = Peer::new(config);
    peer.send(TcpControl::Syn, b"");
    let first = peer.poll().remove(0);
    peer.jump(round_trip);
    peer.acknowledge(&first);
    peer.poll();
    let Some(Event::Accepted(_, id)) = peer.stack.next_event() else { panic!("not accepted") };
    (peer, id)
}

#[track_caller]
fn assert_millis(times: &[(u128, Got)], millis: &[u128]) {
    for ((time, got), millis) in times.iter().zip(millis) {
        assert!((*millis..=millis + 20).contains(time), "{time} ms before {got:?}");
    }
}

/// The program may allow a shorter time than RFC 6298 does.
#[test]
fn the_shortest_time_is_that_of_the_program() {
    let (mut peer, id) = measured(Duration::from_millis(200), Duration::from_millis(1));
    peer.stack.send(id, b"lost").unwrap();
    let first = peer.poll().remove(0);
    let again = times(&mut peer, 5);
    assert_millis(&again, &[200, 400, 800, 1_600, 3_200]);
    assert!(again.iter().all(|(_, got)| (got.seq, &got.data) == (first.seq, &first.data)));
    // New data was acknowledged, though nobody can tell how long that took.
    peer.acknowledge(&first);
    peer.poll();
    peer.stack.send(id, b"lost again").unwrap();
    peer.poll();
    assert_millis(&times(&mut peer, 1), &[200]);
}

/// RFC 6298, section 2: the first round trip, and four times half of it; then each new one counts for an eighth.
#[test]
fn the_time_is_longer_where_round_trips_are() {
    let (mut peer, id) = measured(Duration::from_millis(200), Duration::from_millis(160));
    peer.stack.send(id, b"lost").unwrap();
    let lost = peer.poll().remove(0);
    assert_millis(&times(&mut peer, 1), &[480]);
    peer.acknowledge(&lost);
    peer.poll();
    // The same once more: the variation becomes three quarters of what it was.
    peer.stack.send(id, b"arrives").unwrap();
    let second = peer.poll().remove(0);
    peer.jump(Duration::from_millis(160));
    peer.acknowledge(&second);
    peer.poll();
    peer.stack.send(id, b"lost").unwrap();
    peer.poll();
    assert_millis(&times(&mut peer, 1), &[400]);
}

/// What is on its way is not repeated while its acknowledgments come.
#[test]
fn nothing_is_repeated_that_is_acknowledged_in_time() {
    let (mut peer, id) = measured(Duration::from_millis(200), Duration::from_millis(1));
    for _ in 0..20 {
        peer.stack.send(id, b"arrives late").unwrap();
        let [sent] = &peer.poll()[..] else { panic!("one segment") };
        let sent = sent.clone();
        assert_eq!(peer.wait(Duration::from_millis(190)), []);
        peer.acknowledge(&sent);
        peer.poll();
    }
}

/// RFC 5681, section 3.2.
#[test]
fn three_duplicates_repeat_the_first_segment_at_once() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, &[1; 7_300]).unwrap();
    let sent = peer.poll();
    assert_eq!(sent.len(), 5);
    for _ in 0..2 {
        peer.send(NONE, b"");
        assert_eq!(peer.poll(), []);
    }
    peer.send(NONE, b"");
    let again = peer.poll();
    assert_eq!(again.iter().map(|got| (got.seq, &got.data)).collect::<Vec<_>>(), [(sent[0].seq, &sent[0].data)]);
    peer.acknowledge(&sent[4]);
    peer.poll();
    assert_eq!(peer.jump(3 * SECOND), []);
}

/// A part of what was lost arrives, and the rest is repeated, also over the end of the numbers.
#[test]
fn a_part_is_acknowledged() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, &[1; 4_380]).unwrap();
    let sent = peer.poll();
    peer.acknowledge(&sent[0]);
    assert_eq!(peer.poll(), []);
    let again = peer.jump(Duration::from_millis(1_100));
    assert_eq!(again.iter().map(|got| got.seq).collect::<Vec<_>>(), [sent[1].seq, sent[2].seq]);
    // The middle of a segment.
    peer.ack = Some(sent[1].seq + 700);
    peer.send(NONE, b"");
    peer.poll();
    let again = peer.jump(Duration::from_millis(2_100));
    assert_eq!((again[0].seq, again[0].data.len()), (sent[1].seq + 700, 1_460));
}
