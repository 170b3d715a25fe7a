// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Windows of both sides (RFC 9293, section 3.8.6): closed, shrunk, and opened a little.

use crate::peer::{Got, Peer, config, events};
use core::time::Duration;
use dpdk_sockets::{Config, ConnectionId, Ended, Event};
use smoltcp::wire::TcpControl;

const NONE: TcpControl = TcpControl::None;
const SECOND: Duration = Duration::from_secs(1);

/// The peer repeats its last acknowledgment with another window.
fn announce(peer: &mut Peer, window: u16) {
    peer.segment_with_window(NONE, peer.seq, peer.ack, b"", window);
}

fn connected(change: impl FnOnce(&mut Config)) -> (Peer, ConnectionId) {
    let mut config = config();
    change(&mut config);
    let mut peer = Peer::new(config);
    peer.handshake();
    let Some(Event::Accepted(_, id)) = peer.stack.next_event() else { panic!("not accepted") };
    (peer, id)
}

/// How many milliseconds pass before each of the next segments; the peer answers them with a window of 0.
fn intervals(peer: &mut Peer, number: usize) -> (Vec<u128>, Vec<Got>) {
    let (mut last, mut all, mut times) = (peer.stack.wire().now, Vec::new(), Vec::new());
    while times.len() < number {
        let got = peer.jump(Duration::from_millis(10));
        if !got.is_empty() {
            let now = peer.stack.wire().now;
            times.push((now - last).as_millis());
            last = now;
            all.extend(got);
            announce(peer, 0);
        }
    }
    (times, all)
}

/// MUST-35, MUST-36 and SHLD-30. The window was closed before there was anything to send.
#[test]
fn probes_are_sent_less_and_less_often() {
    let (mut peer, id) = Peer::connected();
    announce(&mut peer, 0);
    peer.poll();
    peer.stack.send(id, b"waits").unwrap();
    assert_eq!(peer.poll(), []);
    let (times, probes) = intervals(&mut peer, 9);
    for (time, seconds) in times.iter().zip([1, 2, 4, 8, 16, 32, 60, 60, 60]) {
        assert!((seconds * 1_000..=seconds * 1_000 + 20).contains(time), "{times:?}");
    }
    assert!(probes.iter().all(|probe| (probe.seq, &probe.data[..]) == (peer.ack.unwrap(), &b"w"[..])), "{probes:?}");
}

/// MUST-34, MUST-36, MUST-37, SHLD-17 and SHLD-29: the peer takes its window back while data are on their way, and drops them. smoltcp 0.14
/// alone would send nothing any more.
#[test]
fn a_window_that_is_taken_back_is_probed() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, &[1; 5_000]).unwrap();
    assert_eq!(peer.poll().len(), 4);
    announce(&mut peer, 0);
    let mut probes = 0;
    for _ in 0..400 {
        for got in peer.jump(SECOND) {
            assert_eq!((Some(got.seq), got.data.len()), (peer.ack, 1));
            probes += 1;
            announce(&mut peer, 0);
        }
    }
    assert!((5..20).contains(&probes), "{probes}");
    assert_eq!(events(&mut peer.stack), [], "a peer that answers stays");
    announce(&mut peer, 50_000);
    let mut received = 0;
    for _ in 0..70 {
        for got in peer.jump(SECOND) {
            if Some(got.seq) == peer.ack {
                received += got.data.len();
                peer.acknowledge(&got);
            }
        }
    }
    assert_eq!(received, 5_000);
}

/// The peer has closed its direction, reads slowly, and opens its window after the program has closed too. smoltcp 0.14 would not look at
/// the window.
#[test]
fn a_window_that_opens_after_the_end_is_followed() {
    let (mut peer, id) = Peer::connected();
    peer.segment_with_window(TcpControl::Fin, peer.seq, peer.ack, b"", 3_000);
    peer.seq += 1;
    peer.poll();
    peer.stack.send(id, &[1; 10_000]).unwrap();
    peer.stack.close(id).unwrap();
    let mut received = 0;
    for window in [0, 3_000, 0, 5_000, 0] {
        for got in peer.poll() {
            received += got.data.len();
            peer.ack = Some(got.seq + got.control.len() + got.data.len());
        }
        announce(&mut peer, window);
    }
    let last = peer.poll();
    assert_eq!((received, last.len()), (10_000, 0));
    peer.send(NONE, b"");
    assert_eq!(peer.poll()[0].control, TcpControl::Rst, "both have closed, and nothing is left");
}

/// SHLD-15 and SHLD-16: of what was sent, that is repeated which fits, and nothing new is sent.
#[test]
fn a_window_that_shrinks_limits_what_is_repeated() {
    let (mut peer, id) = Peer::connected();
    announce(&mut peer, 4_000);
    peer.poll();
    peer.stack.send(id, &[1; 10_000]).unwrap();
    assert_eq!(peer.poll().iter().map(|got| got.data.len()).sum::<usize>(), 4_000);
    announce(&mut peer, 1_000);
    assert_eq!(peer.poll(), []);
    let again = [peer.jump(SECOND), peer.jump(SECOND)].concat();
    assert!(again.iter().all(|got| Some(got.seq) == peer.ack && got.data.len() == 1_000), "{again:?}");
    assert!(!again.is_empty());
    peer.ack = peer.ack.map(|ack| ack + 4_000);
    announce(&mut peer, 1_000);
    let next = peer.poll();
    assert_eq!(next.iter().map(|got| (Some(got.seq), got.data.len())).collect::<Vec<_>>(), [(peer.ack, 1_000)]);
}

/// MUST-1: a window is no negative number, and all of it is used.
#[test]
fn the_largest_window_is_used() {
    let (mut peer, id) = Peer::connected();
    announce(&mut peer, u16::MAX);
    peer.poll();
    assert_eq!(peer.stack.send(id, &[1; 65_535]), Ok(65_535));
    assert_eq!(peer.poll().iter().map(|got| got.data.len()).sum::<usize>(), 65_535);
}

/// SHLD-14: whatever arrives and is read, what was allowed once stays allowed.
#[test]
fn the_right_edge_never_moves_back() {
    let (mut peer, id) = connected(|config| config.receive_buffer = 5_000);
    let mut edge = peer.seq + 5_000;
    for round in 0..500_usize {
        if round % 3 < 2 {
            let len = (round * 7_919 % 1_460).min(edge - peer.seq);
            peer.send(NONE, &vec![1; len]);
        }
        if round % 2 == 0 {
            peer.stack.recv(id, &mut vec![0; 1 + round * 104_729 % 2_000]).unwrap();
        }
        if round % 5 == 0 {
            peer.stack.send(id, b"more").unwrap();
        }
        for got in peer.poll() {
            let right = got.ack.unwrap() + usize::from(got.window);
            assert!(right >= edge, "{got:?}");
            edge = right;
            peer.ack = peer.ack.map(|ack| ack.max(got.seq + got.data.len()));
        }
    }
}

/// MUST-39: a window is opened by a segment or half the buffer, not by what is read at a time.
#[test]
fn a_program_that_reads_a_byte_at_a_time_opens_no_silly_window() {
    for (buffer, first) in [(65_535, 1_460), (1_000, 500)] {
        let (mut peer, id) = connected(|config| config.receive_buffer = buffer);
        for len in core::iter::repeat_n(1_000, buffer / 1_000).chain([buffer % 1_000]) {
            peer.send(NONE, &vec![1; len]);
            peer.poll();
        }
        let mut updates = Vec::new();
        for _ in 0..buffer {
            assert_eq!(peer.stack.recv(id, &mut [0]), Ok(Some(1)));
            updates.extend(peer.poll().iter().map(|got| got.window));
        }
        assert_eq!(updates[0], first);
    }
}

/// RFC 9293, section 3.8.6.1, as seen by the receiver.
#[test]
fn a_probe_is_answered() {
    let (mut peer, id) = connected(|config| config.receive_buffer = 1_000);
    peer.send(NONE, &[1; 1_000]);
    assert_eq!(peer.poll()[0].window, 0);
    for _ in 0..3 {
        peer.segment(NONE, peer.seq, peer.ack, b"?");
        let [answer] = &peer.poll()[..] else { panic!("no answer") };
        assert_eq!((answer.ack, answer.window), (Some(peer.seq), 0));
        peer.jump(SECOND);
    }
    assert_eq!(peer.stack.recv(id, &mut [0; 2_000]), Ok(Some(1_000)));
    assert_eq!(peer.poll()[0].window, 1_000);
}

/// MUST-66: a window of 0 closes nothing but the way for data.
#[test]
fn what_is_no_data_passes_a_closed_window() {
    let full = || {
        let (mut peer, id) = connected(|config| config.receive_buffer = 1_000);
        peer.stack.send(id, b"answer").unwrap();
        peer.send(NONE, &[1; 1_000]);
        assert_eq!(peer.poll().last().unwrap().window, 0);
        events(&mut peer.stack);
        (peer, id)
    };
    let (mut peer, _) = full();
    peer.ack = peer.ack.map(|ack| ack + 6);
    peer.send(NONE, b"");
    peer.poll();
    assert_eq!(peer.jump(3 * SECOND), [], "the acknowledgment counts");

    let (mut peer, id) = full();
    peer.send(TcpControl::Fin, b"");
    assert_eq!(peer.poll()[0].ack, Some(peer.seq));
    assert_eq!(
        (events(&mut peer.stack), peer.stack.recv(id, &mut [0; 2_000])),
        (vec![Event::Readable(id)], Ok(Some(1_000)))
    );
    assert_eq!(peer.stack.recv(id, &mut [0; 9]), Ok(Some(0)));

    let (mut peer, id) = full();
    peer.send(TcpControl::Rst, b"");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Ended(id, Ended::Reset)]);
}
