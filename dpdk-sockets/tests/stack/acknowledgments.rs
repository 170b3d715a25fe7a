// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Acknowledgments that the stack gets, and those that it sends (RFC 9293, sections 3.8.6.3 and 3.10.7.4).

use crate::peer::{Peer, config, events};
use core::time::Duration;
use dpdk_sockets::Event;
use smoltcp::wire::{TcpControl, TcpSeqNumber};

const NONE: TcpControl = TcpControl::None;

/// RFC 9293, section 3.10.7.4, and RFC 5961, section 5.2: the program has written it, and the peer's window has kept it back. smoltcp
/// 0.14 would take it as arrived.
#[test]
fn what_was_not_sent_cannot_be_acknowledged() {
    let (mut peer, id) = Peer::connected();
    peer.segment_with_window(NONE, peer.seq, peer.ack, b"", 1_000);
    peer.poll();
    peer.stack.send(id, &[1; 2_000]).unwrap();
    let sent = peer.poll().remove(0);
    assert_eq!(sent.data.len(), 1_000);
    peer.segment(NONE, peer.seq, Some(sent.seq + 1_001), b"");
    let [answer] = &peer.poll()[..] else { panic!("no challenge") };
    assert_eq!((answer.seq, answer.ack), (sent.seq + 1_000, Some(peer.seq)));
    // Two that do not agree do not answer each other for ever.
    peer.segment(NONE, peer.seq, Some(sent.seq + 2_000), b"");
    assert_eq!(peer.poll(), []);
    peer.jump(Duration::from_millis(500));
    peer.acknowledge(&sent);
    let rest = peer.poll();
    assert_eq!(rest.iter().map(|got| (got.seq, got.data.len())).collect::<Vec<_>>(), [(sent.seq + 1_000, 1_000)]);
    peer.stack.shutdown(id).unwrap();
    peer.acknowledge(&rest[0]);
    assert_eq!(peer.poll()[0].control, TcpControl::Fin);
}

/// A FIN that the window keeps back is not acknowledged either.
#[test]
fn a_fin_that_was_not_sent_cannot_be_acknowledged() {
    let (mut peer, id) = Peer::connected();
    peer.segment_with_window(NONE, peer.seq, peer.ack, b"", 1_000);
    peer.poll();
    peer.stack.send(id, &[1; 2_000]).unwrap();
    peer.stack.shutdown(id).unwrap();
    let sent = peer.poll().remove(0);
    peer.segment(TcpControl::Fin, peer.seq, Some(sent.seq + 2_001), b"");
    peer.poll();
    assert_eq!(events(&mut peer.stack), []);
    peer.acknowledge(&sent);
    let rest = peer.poll();
    assert_eq!((rest[0].control, rest[0].data.len()), (TcpControl::Fin, 1_000));
}

/// RFC 9293, section 3.10.7.4: `<SEQ=SND.NXT>`, which does not go back when data are repeated. The peer, which has received all,
/// would ignore a lower number.
#[test]
fn acknowledgments_do_not_go_back_with_repetitions() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, &[1; 500]).unwrap();
    let sent = peer.poll().remove(0);
    // The window keeps back what is repeated.
    peer.segment_with_window(NONE, peer.seq, peer.ack, b"", 0);
    peer.wait(Duration::from_millis(1_200));
    peer.segment_with_window(NONE, peer.seq, peer.ack, b"data", 0);
    let [answer] = &peer.poll()[..] else { panic!("no acknowledgment") };
    assert_eq!((answer.seq, answer.ack, answer.data.len()), (sent.seq + 500, Some(peer.seq + 4), 0));
}

#[test]
fn old_acknowledgments_change_nothing() {
    let (mut peer, id) = Peer::connected();
    let old = peer.ack;
    peer.stack.send(id, &[1; 1_000]).unwrap();
    let sent = peer.poll().remove(0);
    peer.acknowledge(&sent);
    peer.poll();
    peer.stack.send(id, &[2; 1_000]).unwrap();
    let sent = peer.poll().remove(0);
    for back in [0, 1, 1_000_000_000] {
        peer.segment(NONE, peer.seq, old.map(|old| old - back), b"");
        assert_eq!(peer.poll(), []);
    }
    peer.acknowledge(&sent);
    peer.poll();
    assert_eq!(peer.jump(Duration::from_secs(3)), [], "all has arrived");
}

/// RFC 9293, section 3.10.7.4: the network swaps data and a later acknowledgment. smoltcp 0.14 would drop the data.
#[test]
fn data_that_an_acknowledgment_has_overtaken_arrive() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, &[1; 60_000]).unwrap();
    let sent = peer.poll();
    let old = peer.ack;
    let (start, newer) = (peer.seq, sent[2].seq);
    peer.segment_with_window(NONE, start + 4, Some(newer), b"", 47_080);
    peer.segment_with_window(NONE, start, old, b"data", 10);
    assert_eq!(peer.poll().last().unwrap().ack, Some(start + 4));
    // With a FIN too, and the window stays that of the newer one.
    peer.segment_with_window(TcpControl::Fin, start + 4, old, b"end", 10);
    let got = peer.poll();
    assert_eq!(got.last().unwrap().ack, Some(start + 8));
    let mut bytes = [0; 9];
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(7)));
    assert_eq!(&bytes[..7], b"dataend");
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(0)));
    peer.stack.shutdown(id).unwrap();
    (peer.seq, peer.ack) = (start + 8, sent.last().map(|last| last.seq + last.data.len()));
    peer.send(NONE, b"");
    assert_eq!(peer.poll().iter().map(|got| got.data.len()).sum::<usize>(), 10_000);
    // RFC 5961, section 5.2: an acknowledgment that is too old was not overtaken.
    for back in [70_000, i32::MAX, i32::MIN] {
        let (mut peer, id) = Peer::connected();
        let old = peer.ack.map(|ack| TcpSeqNumber(ack.0.wrapping_sub(back)));
        peer.segment(NONE, peer.seq, old, b"data");
        assert_eq!((peer.poll(), peer.stack.recv(id, &mut bytes)), (vec![], Ok(None)));
    }
}

/// MUST-58 and MUST-59.
#[test]
fn segments_that_arrive_together_are_acknowledged_together() {
    let (mut peer, _) = Peer::connected();
    for _ in 0..20 {
        peer.send(NONE, &[1; 1_000]);
    }
    let got = peer.poll();
    assert_eq!(got.iter().map(|got| got.ack).collect::<Vec<_>>(), [Some(peer.seq)]);
}

/// MUST-40 and SHLD-19: an acknowledgment leaves with the next poll.
#[test]
fn an_acknowledgment_does_not_wait() {
    let (mut peer, _) = Peer::connected();
    peer.send(NONE, b"data");
    let before = peer.stack.wire().now;
    assert_eq!(peer.poll()[0].ack, Some(peer.seq));
    assert_eq!(peer.stack.wire().now, before);
}

/// MAY-13 and SHLD-31.
#[test]
fn a_gap_is_reported_at_once_and_filled() {
    let (mut peer, id) = Peer::connected();
    let start = peer.seq;
    for number in 1..4 {
        peer.segment(NONE, start + number * 100, peer.ack, &[1; 100]);
        assert_eq!(peer.poll()[0].ack, Some(start), "{number}");
    }
    peer.segment(NONE, start, peer.ack, &[1; 100]);
    assert_eq!(peer.poll()[0].ack, Some(start + 400));
    assert_eq!(events(&mut peer.stack), [Event::Readable(id)]);
}

/// RFC 2018: the blocks that have arrived, if the peer's SYN has asked for them.
#[test]
fn a_gap_is_described() {
    let mut peer = Peer::new(config());
    peer.send(TcpControl::Syn, b"");
    peer.change(|frame| crate::edit::with_options(frame, &[2, 4, 5, 180, 4, 2]));
    let syn = peer.poll().remove(0);
    assert!(syn.options.windows(2).any(|option| option == [4, 2]), "{:?}", syn.options);
    peer.acknowledge(&syn);
    let start = peer.seq;
    peer.segment(NONE, start + 100, peer.ack, &[1; 100]);
    let got = peer.poll();
    let [kind, len, left @ .., _, _] = &got[0].options[..] else { panic!("no option: {got:?}") };
    let number = |seq: TcpSeqNumber| seq.0.to_be_bytes();
    assert_eq!((*kind, *len, left), (5, 10, &[number(start + 100), number(start + 200)].concat()[..]));
}

/// RFC 9293, section 3.10.7.4, first: who sends what is not expected is told what is.
#[test]
fn segments_outside_the_window_are_answered() {
    let (mut peer, id) = Peer::connected();
    peer.send(NONE, b"data");
    peer.poll();
    events(&mut peer.stack);
    for seq in [peer.seq - 4, peer.seq - 1_000, peer.seq + 65_535, peer.seq + 1_000_000_000] {
        peer.segment(NONE, seq, peer.ack, b"data");
        let [answer] = &peer.poll()[..] else { panic!("no answer") };
        assert_eq!((answer.ack, Some(answer.seq)), (Some(peer.seq), peer.ack));
    }
    assert_eq!((events(&mut peer.stack), peer.stack.recv(id, &mut [0; 99])), (vec![], Ok(Some(4))));
}

/// RFC 9293, section 3.8.4, as seen by the other side: with an octet, and without.
#[test]
fn a_keep_alive_is_answered() {
    for data in [&b""[..], b"\0"] {
        let (mut peer, id) = Peer::connected();
        for _ in 0..3 {
            peer.segment(NONE, peer.seq - 1, peer.ack, data);
            assert_eq!(peer.poll()[0].ack, Some(peer.seq), "{data:?}");
            peer.jump(Duration::from_secs(1));
        }
        assert_eq!((events(&mut peer.stack), peer.stack.recv(id, &mut [0; 9])), (vec![], Ok(None)));
    }
}
