// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Flags, and what they say of a segment's text: PSH, URG, SYN and FIN with data, and flags that exclude each other.

use crate::edit::{FLAGS, URGENT_POINTER, changed};
use crate::peer::{Peer, config, events};
use core::time::Duration;
use dpdk_sockets::{ConnectionId, Event};
use smoltcp::wire::TcpControl;

const FIN: TcpControl = TcpControl::Fin;
const NONE: TcpControl = TcpControl::None;
const PSH: TcpControl = TcpControl::Psh;
const RST: TcpControl = TcpControl::Rst;
const SYN: TcpControl = TcpControl::Syn;

/// Everything that can be read.
fn read(peer: &mut Peer, id: ConnectionId) -> Vec<u8> {
    let mut bytes = vec![0; 100_000];
    let mut all = Vec::new();
    while let Ok(Some(len @ 1..)) = peer.stack.recv(id, &mut bytes) {
        all.extend(&bytes[..len]);
    }
    all
}

/// MUST-61: the last segment of what was written has PSH.
#[test]
fn the_last_segment_is_pushed() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, &[1; 3_000]).unwrap();
    let controls: Vec<_> = peer.poll().iter().map(|got| got.control).collect();
    assert_eq!(controls, [NONE, NONE, PSH]);
}

/// MAY-16 and SHLD-27.
#[test]
fn what_is_written_between_polls_is_one_segment() {
    let (mut peer, id) = Peer::connected();
    for part in [&b"one "[..], b"two ", b"three"] {
        assert_eq!(peer.stack.send(id, part), Ok(part.len()));
    }
    let [got] = &peer.poll()[..] else { panic!("not one segment") };
    assert_eq!((got.control, &got.data[..]), (PSH, &b"one two three"[..]));
}

/// MUST-60, as seen by the receiver: data are not kept back until a PSH comes.
#[test]
fn data_without_psh_arrive() {
    let (mut peer, id) = Peer::connected();
    peer.send(NONE, b"data");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Readable(id)]);
    assert_eq!(read(&mut peer, id), b"data");
}

/// RFC 6093: urgent data stay in the stream, wherever the pointer points, also beyond the segment and at nothing.
#[test]
fn urgent_data_are_read_with_the_others() {
    for pointer in [0_u16, 1, 3, 4, 1_000, 65_535] {
        let (mut peer, id) = Peer::connected();
        peer.send(NONE, b"data");
        peer.change(|frame| {
            changed(frame, |packet| {
                packet[FLAGS] |= 0x20;
                packet[URGENT_POINTER..URGENT_POINTER + 2].copy_from_slice(&pointer.to_be_bytes());
            })
        });
        assert_eq!(peer.poll()[0].ack, Some(peer.seq));
        assert_eq!(read(&mut peer, id), b"data", "{pointer}");
    }
}

/// The data are not acknowledged, so the peer sends them again.
#[test]
fn data_in_a_syn_come_again() {
    let mut peer = Peer::new(config());
    peer.segment(SYN, peer.seq, None, b"early");
    let [syn] = &peer.poll()[..] else { panic!("no SYN-ACK") };
    assert_eq!(syn.ack, Some(peer.seq + 1));
    (peer.seq, peer.ack) = (peer.seq + 1, Some(syn.seq + 1));
    peer.send(NONE, b"early");
    peer.poll();
    let [Event::Accepted(_, id), Event::Readable(_)] = events(&mut peer.stack)[..] else { panic!("not accepted") };
    assert_eq!(read(&mut peer, id), b"early");
}

#[test]
fn a_fin_counts_when_all_before_it_has_arrived() {
    let (mut peer, id) = Peer::connected();
    let start = peer.seq;
    peer.segment(FIN, start + 4, peer.ack, b"tail");
    peer.poll();
    assert_eq!((events(&mut peer.stack), peer.stack.recv(id, &mut [0; 9])), (vec![], Ok(None)));
    peer.segment(NONE, start, peer.ack, b"head");
    peer.poll();
    assert_eq!(read(&mut peer, id), b"headtail");
    // The engine forgets a FIN that comes too early: the peer sends it again.
    peer.segment(FIN, start + 8, peer.ack, b"");
    let [ack] = &peer.poll()[..] else { panic!("no ACK") };
    assert_eq!((ack.ack, peer.stack.recv(id, &mut [0; 9])), (Some(start + 9), Ok(Some(0))));
}

/// The peer repeats data whose acknowledgment was lost, now with its FIN. smoltcp 0.14 would forget the FIN.
#[test]
fn a_fin_after_old_data_counts() {
    let (mut peer, id) = Peer::connected();
    peer.send(NONE, b"data");
    peer.poll();
    peer.segment(FIN, peer.seq - 4, peer.ack, b"data");
    assert_eq!(peer.poll()[0].ack, Some(peer.seq + 1));
    assert_eq!((read(&mut peer, id), peer.stack.recv(id, &mut [0])), (b"data".to_vec(), Ok(Some(0))));
}

#[test]
fn a_fin_again_is_acknowledged_again() {
    let (mut peer, id) = Peer::connected();
    peer.send(FIN, b"last");
    assert_eq!(peer.poll()[0].ack, Some(peer.seq));
    peer.segment(FIN, peer.seq - 5, peer.ack, b"last");
    assert_eq!(peer.poll()[0].ack, Some(peer.seq));
    peer.segment(FIN, peer.seq - 1, peer.ack, b"");
    assert_eq!(peer.poll()[0].ack, Some(peer.seq));
    assert_eq!(read(&mut peer, id), b"last");
}

/// RFC 9293, section 3.10.7.4: what follows a FIN is no text. smoltcp 0.14 would hand it out after the end.
#[test]
fn nothing_is_read_after_the_end() {
    let (mut peer, id) = Peer::connected();
    peer.send(FIN, b"last");
    peer.poll();
    assert_eq!(read(&mut peer, id), b"last");
    assert_eq!(events(&mut peer.stack), [Event::Readable(id)]);
    for data in [&b"more"[..], b"x"] {
        peer.segment(PSH, peer.seq, peer.ack, data);
        peer.poll();
        peer.stack.wire_mut().now += Duration::from_secs(2);
    }
    // A part that has arrived, and more.
    peer.segment(PSH, peer.seq - 3, peer.ack, b"st and more");
    peer.poll();
    assert_eq!((events(&mut peer.stack), peer.stack.recv(id, &mut [0; 9])), (vec![], Ok(Some(0))));
    assert_eq!(peer.stack.send(id, b"answer"), Ok(6));
    assert_eq!(peer.poll()[0].ack, Some(peer.seq), "and no number was used");
}

/// smoltcp 0.14 would cut the data and take the FIN: the end would come too early.
#[test]
fn a_fin_beyond_the_window_is_not_the_end() {
    let (mut peer, id) = Peer::connected();
    for _ in 0..65 {
        peer.send(NONE, &[1; 1_000]);
    }
    assert_eq!(peer.poll().last().unwrap().window, 535);
    peer.segment(FIN, peer.seq, peer.ack, &[2; 1_000]);
    let [ack] = &peer.poll()[..] else { panic!("no ACK") };
    assert!(ack.ack <= Some(peer.seq + 535));
    assert_eq!(read(&mut peer, id)[..65_000], [1; 65_000]);
    assert_eq!(peer.stack.recv(id, &mut [0; 9]), Ok(None));
    peer.poll();
    peer.send(FIN, &[2; 1_000]);
    assert_eq!(peer.poll().last().unwrap().ack, Some(peer.seq));
    assert_eq!((read(&mut peer, id), peer.stack.recv(id, &mut [0; 9])), (vec![2; 1_000], Ok(Some(0))));
}

/// Every octet of flags, to a listener and to a connection.
#[test]
fn no_flags_open_or_break_anything() {
    for flags in 0..=255_u8 {
        let mut peer = Peer::new(config());
        peer.segment(NONE, peer.seq, None, b"data");
        peer.change(|frame| changed(frame, |packet| packet[FLAGS] = flags));
        let got = peer.poll();
        let (fin, syn, rst, ack) = (flags & 1 > 0, flags & 2 > 0, flags & 4 > 0, flags & 16 > 0);
        let opens = syn && !fin && !rst && !ack;
        assert_eq!(peer.stack.connections(), usize::from(opens), "{flags:08b}");
        let answer = if opens { Some(SYN) } else { (!rst).then_some(RST) };
        assert_eq!(got.first().map(|got| got.control), answer, "{flags:08b}");

        let (mut peer, id) = Peer::connected();
        peer.segment(NONE, peer.seq, peer.ack, b"data");
        peer.change(|frame| changed(frame, |packet| packet[FLAGS] = flags));
        peer.poll();
        let is_text = ack && !syn && !rst;
        assert_eq!(read(&mut peer, id), if is_text { &b"data"[..] } else { b"" }, "{flags:08b}");
        assert_eq!(peer.stack.send(id, b"answer").is_ok(), !(rst && !syn && !fin), "{flags:08b}");
    }
}

/// RFC 9293, section 3.10.7.4, fifth.
#[test]
fn a_segment_without_ack_is_no_text() {
    let (mut peer, id) = Peer::connected();
    for control in [NONE, PSH, FIN] {
        peer.segment(control, peer.seq, None, b"data");
    }
    peer.poll();
    assert_eq!((events(&mut peer.stack), read(&mut peer, id)), (vec![], vec![]));
}
