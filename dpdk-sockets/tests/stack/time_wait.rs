// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! TIME-WAIT (RFC 9293, section 3.4.2) of a connection that the stack has closed first.

use crate::peer::{Peer, events};
use core::time::Duration;
use dpdk_sockets::Event;
use smoltcp::wire::TcpControl;

const NONE: TcpControl = TcpControl::None;
const SYN: TcpControl = TcpControl::Syn;

/// A connection in TIME-WAIT after the stack has sent so many bytes.
fn closed(bytes: usize) -> Peer {
    let (mut peer, id) = Peer::connected();
    let mut left = bytes;
    while left > 0 {
        left -= peer.stack.send(id, &vec![1; left.min(50_000)]).unwrap();
        for got in peer.poll() {
            peer.acknowledge(&got);
        }
        peer.poll();
    }
    peer.stack.close(id).unwrap();
    let fin = peer.poll().remove(0);
    peer.ack = Some(fin.seq + 1);
    peer.send(TcpControl::Fin, b"");
    assert_eq!(peer.poll().len(), 1);
    events(&mut peer.stack);
    peer
}

/// MAY-2: the numbers of the new connection are above all of the old one, also if the old one was faster than the clock of the numbers.
#[test]
fn a_new_connection_begins_after_the_old_numbers() {
    let mut peer = closed(3_000_000);
    let last = peer.ack.unwrap();
    peer.ack = None;
    peer.send(SYN, b"");
    let [syn] = &peer.poll()[..] else { panic!("no SYN-ACK") };
    assert!(syn.control == SYN && syn.seq >= last, "{syn:?} after {last}");
    let syn = syn.clone();
    peer.acknowledge(&syn);
    peer.poll();
    assert!(matches!(events(&mut peer.stack)[..], [Event::Accepted(..)]));
}

/// RFC 1337, and RFC 9293, section 3.10.7.4.
#[test]
fn old_segments_do_not_end_it() {
    let mut peer = closed(0);
    for (control, seq, answers) in [
        (TcpControl::Rst, peer.seq, 0),
        (TcpControl::Rst, peer.seq + 1, 0),
        (SYN, peer.seq - 1, 1),
        (SYN, peer.seq - 1_000_000, 1),
        (NONE, peer.seq, 0),
        (NONE, peer.seq - 9, 1),
        (TcpControl::Fin, peer.seq - 1, 1),
    ] {
        let ack = if control == SYN { None } else { peer.ack };
        peer.segment(control, seq, ack, b"");
        let got = peer.poll();
        assert_eq!(got.len(), answers, "{control:?} {seq}");
        assert!(got.iter().all(|got| (got.control, got.ack) == (NONE, Some(peer.seq))), "{got:?}");
    }
    assert_eq!(peer.stack.connections(), 0);
}

/// MUST-13: the time begins anew with the peer's FIN.
#[test]
fn it_lasts_60_seconds_from_the_last_fin() {
    let mut peer = closed(0);
    let fin = |peer: &mut Peer| {
        peer.segment(TcpControl::Fin, peer.seq - 1, peer.ack, b"");
        peer.poll()[0].control
    };
    peer.jump(Duration::from_secs(59));
    assert_eq!(fin(&mut peer), NONE);
    peer.jump(Duration::from_secs(59));
    assert_eq!(fin(&mut peer), NONE);
    peer.jump(Duration::from_millis(60_200));
    assert_eq!(fin(&mut peer), TcpControl::Rst);
}
