// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! RFC 5961: segments of somebody who does not see the connection.

use crate::peer::{Peer, events, frame};
use dpdk_sockets::Event;
use smoltcp::wire::{TcpControl, TcpRepr, TcpSeqNumber};

const RST: TcpControl = TcpControl::Rst;
const SYN: TcpControl = TcpControl::Syn;

/// A challenge is an acknowledgment of what is expected.
#[track_caller]
fn assert_challenged(peer: &mut Peer) {
    let [challenge] = &peer.poll()[..] else { panic!("no challenge") };
    assert_eq!((challenge.control, challenge.ack, Some(challenge.seq)), (TcpControl::None, Some(peer.seq), peer.ack));
}

/// Section 3.2.
#[test]
fn a_reset_in_the_window_is_challenged() {
    let (mut peer, id) = Peer::connected();
    for offset in [1, 1_000, 65_534] {
        peer.segment(RST, peer.seq + offset, None, b"");
        assert_challenged(&mut peer);
    }
    for seq in [peer.seq - 1, peer.seq + 65_535, peer.seq + 1_000_000] {
        peer.segment(RST, seq, None, b"");
        assert_eq!(peer.poll(), []);
    }
    assert_eq!((events(&mut peer.stack), peer.stack.counters().challenges), (vec![], 3));
    assert_eq!(peer.stack.send(id, b"alive"), Ok(5));
    assert_eq!(peer.poll()[0].data, b"alive");
}

/// The expected number counts what the program has not read, too.
#[test]
fn the_expected_number_follows_the_data() {
    let (mut peer, id) = Peer::connected();
    for round in 0..3 {
        peer.send(TcpControl::None, &[1; 1_000]);
        peer.poll();
        peer.segment(RST, peer.seq + 1, None, b"");
        assert_challenged(&mut peer);
        if round == 1 {
            assert_eq!(peer.stack.recv(id, &mut [0; 300]), Ok(Some(300)));
            peer.poll();
        }
    }
    peer.send(RST, b"");
    peer.poll();
    assert!(matches!(events(&mut peer.stack)[..], [.., Event::Ended(..)]));
}

/// Section 4.2.
#[test]
fn a_syn_is_challenged() {
    let (mut peer, _) = Peer::connected();
    for seq in [peer.seq, peer.seq - 1, peer.seq + 5_000_000] {
        peer.segment(SYN, seq, None, b"");
        assert_challenged(&mut peer);
    }
    assert_eq!(events(&mut peer.stack), []);
}

/// A SYN that was repeated since the answer was lost is answered as before.
#[test]
fn a_syn_twice_is_no_attack() {
    let mut peer = Peer::new(crate::peer::config());
    peer.send(SYN, b"");
    let first = peer.poll();
    peer.segment(SYN, peer.seq - 1, None, b"");
    assert!(peer.poll().iter().all(|got| got.seq == first[0].seq || got.ack == Some(peer.seq)));
    peer.ack = Some(first[0].seq + 1);
    peer.send(TcpControl::None, b"");
    peer.poll();
    assert!(matches!(events(&mut peer.stack)[..], [Event::Accepted(..)]));
}

#[test]
fn a_damaged_segment_does_nothing() {
    let (mut peer, _) = Peer::connected();
    for (control, seq) in [(RST, peer.seq + 5), (RST, peer.seq), (SYN, peer.seq), (TcpControl::Fin, peer.seq)] {
        let tcp = TcpRepr {
            src_port: peer.ports.0,
            dst_port: peer.ports.1,
            control,
            seq_number: seq,
            ack_number: peer.ack,
            window_len: 1,
            window_scale: None,
            max_seg_size: None,
            sack_permitted: false,
            sack_ranges: [None; 3],
            timestamp: None,
            payload: b"",
        };
        let mut damaged = frame(peer.address, &tcp);
        *damaged.last_mut().unwrap() ^= 1;
        peer.stack.wire_mut().to_stack.push_back(damaged);
        assert_eq!(peer.poll(), []);
    }
    assert_eq!(events(&mut peer.stack), []);
}

#[test]
fn damaged_segments_for_nobody_get_no_answer() {
    let mut peer = Peer::new(crate::peer::config());
    peer.ports.1 = 81;
    peer.segment(SYN, TcpSeqNumber(1), None, b"");
    let last = peer.stack.wire_mut().to_stack[0].len() - 1;
    peer.stack.wire_mut().to_stack[0][last] ^= 1;
    assert_eq!(peer.poll(), []);
}
