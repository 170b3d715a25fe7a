// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Sequence numbers: where they begin, and where they wrap.

use crate::peer::{Peer, config, events};
use core::time::Duration;
use dpdk_sockets::{ConnectionId, Event};
use smoltcp::wire::{TcpControl, TcpSeqNumber};

const NONE: TcpControl = TcpControl::None;
const SYN: TcpControl = TcpControl::Syn;

/// A connection whose numbers on the side of the stack begin so far before the end.
fn near_the_end(before: u32) -> (Peer, ConnectionId) {
    let mut peer = Peer::new(config());
    let mut nearest = (0, u32::MAX);
    for port in 1..200 {
        (peer.ports.0, peer.ack) = (port, None);
        peer.send(SYN, b"");
        let first = peer.poll()[0].seq.0.cast_unsigned();
        let missing = 0_u32.wrapping_sub(before).wrapping_sub(first);
        nearest = if missing < nearest.1 { (port, missing) } else { nearest };
        peer.send(TcpControl::Rst, b"");
        peer.poll();
    }
    // The clock of RFC 6528 adds one each 4 µs.
    peer.stack.wire_mut().now += Duration::from_micros(4 * u64::from(nearest.1));
    peer.ports.0 = nearest.0;
    peer.handshake();
    assert_eq!(peer.ack, Some(TcpSeqNumber(0_u32.wrapping_sub(before).cast_signed()) + 1));
    let Some(Event::Accepted(_, id)) = peer.stack.next_event() else { panic!("not accepted") };
    (peer, id)
}

/// Also in the middle of a segment, and of what is repeated.
#[test]
fn numbers_of_the_stack_wrap() {
    for before in [1, 2, 1_000, 1_461, 2_000] {
        let (mut peer, id) = near_the_end(before);
        let bytes: Vec<u8> = (0..5_000_u32).map(|number| number as u8).collect();
        peer.stack.send(id, &bytes).unwrap();
        assert_eq!(peer.poll().len(), 4);
        let again = peer.jump(Duration::from_millis(1_100));
        let mut received: Vec<u8> = Vec::new();
        for got in again {
            assert_eq!(Some(got.seq), peer.ack, "{before}");
            received.extend(&got.data);
            peer.acknowledge(&got);
        }
        assert_eq!(received, bytes, "{before}");
        peer.stack.shutdown(id).unwrap();
        let fin = peer.poll().remove(0);
        assert_eq!((fin.control, Some(fin.seq)), (TcpControl::Fin, peer.ack));
        peer.acknowledge(&fin);
        peer.send(TcpControl::Fin, b"");
        assert_eq!(peer.poll()[0].ack, Some(peer.seq));
    }
}

/// Out of order, twice, and overlapping.
#[test]
fn numbers_of_the_peer_wrap() {
    for before in [1_usize, 2, 50, 99, 100, 101, 250] {
        let mut peer = Peer::new(config());
        peer.seq = TcpSeqNumber(0) - before;
        peer.handshake();
        let Some(Event::Accepted(_, id)) = peer.stack.next_event() else { panic!("not accepted") };
        let start = peer.seq;
        let bytes: Vec<u8> = (0..300_u32).map(|number| number as u8).collect();
        for (from, to) in [(200, 300), (100, 200), (150, 250), (0, 100), (0, 300)] {
            peer.segment(NONE, start + from, peer.ack, &bytes[from..to]);
        }
        let got = peer.poll();
        assert_eq!(got.last().unwrap().ack, Some(start + 300), "{before}");
        let mut read = [0; 400];
        assert_eq!(peer.stack.recv(id, &mut read), Ok(Some(300)));
        assert_eq!(read[..300], bytes);
        peer.segment(TcpControl::Rst, start + 301, None, b"");
        assert_eq!(peer.poll()[0].ack, Some(start + 300), "{before}");
        peer.segment(TcpControl::Rst, start + 300, None, b"");
        peer.poll();
        assert!(matches!(events(&mut peer.stack)[..], [Event::Readable(_), Event::Ended(..)]), "{before}");
    }
}
