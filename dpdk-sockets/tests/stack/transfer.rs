// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

use crate::peer::{Peer, events};
use core::time::Duration;
use dpdk_sockets::{ConnectionError, Ended, Event};
use smoltcp::wire::{TcpControl, TcpSeqNumber};

const NONE: TcpControl = TcpControl::None;

#[test]
fn a_request_and_its_answer() {
    let (mut peer, id) = Peer::connected();
    peer.send(TcpControl::Psh, b"request");
    peer.stack.poll();
    assert_eq!(events(&mut peer.stack), [Event::Readable(id)]);
    let mut bytes = [0; 100];
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(7)));
    assert_eq!(&bytes[..7], b"request");
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(None));
    assert_eq!(peer.stack.send(id, b"answer"), Ok(6));
    let [answer] = &peer.poll()[..] else { panic!("the acknowledgment goes with the answer") };
    assert_eq!((&answer.data[..], answer.ack), (&b"answer"[..], Some(peer.seq)));
}

#[test]
fn segments_arrive_out_of_order_and_twice() {
    let (mut peer, id) = Peer::connected();
    let start = peer.seq;
    for (offset, data) in [(4, "567"), (4, "567"), (0, "123"), (2, "3456789"), (0, "123")] {
        peer.segment(NONE, start + offset, peer.ack, data.as_bytes());
    }
    peer.poll();
    let mut bytes = [0; 100];
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(9)));
    assert_eq!(&bytes[..9], b"123456789");
}

#[test]
fn a_lost_segment_is_repeated() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, b"lost").unwrap();
    let first = peer.poll();
    let again = peer.wait(Duration::from_millis(1_100));
    assert_eq!((first.len(), &first[0].data), (1, &again[0].data));
    assert_eq!(first[0].seq, again[0].seq);
}

/// However long it took until a repetition arrived, the next loss does not take as long.
#[test]
fn an_acknowledgment_of_new_data_ends_the_doubling() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, &[7; 5_000]).unwrap();
    let first = peer.poll().remove(0);
    let mut waits = Vec::new();
    for _ in 0..5 {
        let before = peer.stack.wire().now;
        while peer.wait(Duration::from_millis(100)).is_empty() {}
        waits.push((peer.stack.wire().now - before).as_secs_f64().round());
        if waits.len() == 4 {
            peer.ack = Some(first.seq + first.data.len());
            peer.send(NONE, b"");
            peer.poll();
        }
    }
    assert_eq!(waits, [1.0, 2.0, 4.0, 8.0, 1.0]);
}

#[test]
fn a_peer_that_vanishes_is_given_up() {
    let (mut peer, id) = Peer::connected();
    peer.wait(Duration::from_secs(130));
    assert_eq!(events(&mut peer.stack), [], "nobody has to answer");
    peer.stack.send(id, b"?").unwrap();
    peer.wait(Duration::from_secs(119));
    assert_eq!(events(&mut peer.stack), []);
    let got = peer.wait(Duration::from_secs(2));
    assert_eq!(got.last().unwrap().control, TcpControl::Rst);
    assert_eq!(events(&mut peer.stack), [Event::Ended(id, Ended::TimedOut)]);
    assert_eq!(peer.stack.send(id, b"?"), Err(ConnectionError::Ended(Ended::TimedOut)));
}

#[test]
fn a_full_send_buffer_says_when_it_has_space() {
    let (mut peer, id) = Peer::connected();
    let bytes: Vec<u8> = (0..100_000_u32).map(|number| number as u8).collect();
    let taken = peer.stack.send(id, &bytes).unwrap();
    assert_eq!(taken, 65_535);
    let mut received = Vec::new();
    while received.len() < taken {
        let got = peer.poll();
        assert!(!got.is_empty());
        for got in got {
            assert_eq!(Some(got.seq), peer.ack, "in order");
            peer.ack = Some(got.seq + got.data.len());
            received.extend(got.data);
        }
        peer.send(NONE, b"");
    }
    peer.poll();
    assert_eq!(received, bytes[..taken]);
    assert_eq!(events(&mut peer.stack), [Event::Writable(id)]);
    assert_eq!(peer.stack.send(id, &bytes[taken..]).unwrap(), bytes.len() - taken);
}

#[test]
fn a_program_that_does_not_read_stops_its_peer() {
    let (mut peer, id) = Peer::connected();
    let mut last = None;
    for _ in 0..100 {
        peer.send(NONE, &[7; 1_000]);
        last = peer.poll().pop().or(last);
    }
    let last = last.unwrap();
    let start = peer.seq - 100_000;
    assert_eq!((last.window, last.ack), (0, Some(start + 65_535)));
    let mut bytes = vec![0; 70_000];
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(65_535)));
    let [update] = &peer.poll()[..] else { panic!("the window is announced") };
    assert_eq!(update.window, 65_535);
}

/// RFC 9293, section 3.8.6.1: the peer's window of zero is probed, and the connection stays as long as it answers.
#[test]
fn a_peer_that_does_not_read_is_probed() {
    let (mut peer, id) = Peer::connected();
    let zero = |peer: &mut Peer| {
        let (seq, ack) = (peer.seq, peer.ack);
        peer.segment_with_window(NONE, seq, ack, b"", 0);
    };
    zero(&mut peer);
    peer.stack.send(id, b"waits").unwrap();
    let mut probes = 0;
    for _ in 0..300 {
        let got = peer.wait(Duration::from_secs(1));
        probes += got.len();
        if !got.is_empty() {
            zero(&mut peer);
        }
    }
    assert!(probes > 3);
    assert_eq!(events(&mut peer.stack), []);
    peer.send(NONE, b"");
    let got = peer.wait(Duration::from_secs(61));
    assert_eq!(got[0].data, b"waits");
}

#[test]
fn without_room_nothing_is_lost() {
    let (mut peer, id) = Peer::connected();
    peer.stack.wire_mut().room = 1;
    let bytes: Vec<u8> = (0..30_000_u32).map(|number| (number / 7) as u8).collect();
    assert_eq!(peer.stack.send(id, &bytes), Ok(bytes.len()));
    let mut received = Vec::new();
    while received.len() < bytes.len() {
        for got in peer.poll() {
            assert_eq!(Some(got.seq), peer.ack, "in order, and once");
            peer.ack = Some(got.seq + got.data.len());
            received.extend(got.data);
        }
        peer.send(NONE, b"");
    }
    assert_eq!(received, bytes);
    assert_eq!(peer.stack.counters().dropped, 0);
}

#[test]
fn numbers_wrap() {
    let (mut peer, id) = Peer::connected();
    assert!(peer.seq < TcpSeqNumber(0) && peer.seq + 100 > TcpSeqNumber(0));
    peer.send(NONE, &[1; 1_000]);
    peer.poll();
    assert_eq!(peer.stack.recv(id, &mut [0; 2_000]), Ok(Some(1_000)));
    peer.send(NONE, &[1; 10]);
    assert_eq!(peer.poll()[0].ack, Some(peer.seq));
}

#[test]
fn space_is_what_send_takes() {
    let (mut peer, id) = Peer::connected();
    assert_eq!(peer.stack.space(id), Ok(65_535));
    assert_eq!(peer.stack.send(id, &[0; 65_000]), Ok(65_000));
    assert_eq!(peer.stack.space(id), Ok(535));
    assert_eq!(peer.stack.send(id, &[0; 535]), Ok(535));
    assert_eq!(peer.stack.space(id), Ok(0));
    let first = peer.poll().remove(0);
    assert_eq!(events(&mut peer.stack), []);
    peer.ack = Some(first.seq + first.data.len());
    peer.send(NONE, b"");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Writable(id)]);
}

#[test]
fn no_room_to_read_is_not_the_end() {
    let (mut peer, id) = Peer::connected();
    peer.send(NONE, b"data");
    peer.poll();
    assert_eq!(peer.stack.recv(id, &mut []), Ok(None));
}
