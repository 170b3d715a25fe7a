// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Buffers that begin small.

use crate::peer::{Peer, config, events, peer_socket};
use core::time::Duration;
use dpdk_sockets::{ConnectionId, Event};
use smoltcp::wire::TcpControl;

const NONE: TcpControl = TcpControl::None;
const SMALL: usize = 4_096;
const LARGE: usize = 65_535;

/// A connection as every program has it that does not change [`dpdk_sockets::Config`], and windows of the peer with this shift.
fn connected(shift: Option<u8>) -> (Peer, ConnectionId) {
    let mut config = config();
    config.initial_buffer = SMALL;
    let mut peer = Peer::new(config);
    peer.syn_options.1 = shift;
    peer.handshake();
    let Some(Event::Accepted(_, id)) = peer.stack.next_event() else { panic!("not accepted") };
    (peer, id)
}

/// The bytes that the stack sends, each acknowledged.
fn take(peer: &mut Peer, id: ConnectionId) -> Vec<u8> {
    let mut taken = Vec::new();
    loop {
        let got = peer.poll();
        if got.iter().all(|got| got.data.is_empty()) {
            return taken;
        }
        for got in got {
            assert_eq!(Some(got.seq), peer.ack);
            peer.ack = Some(got.seq + got.data.len());
            taken.extend(got.data);
        }
        peer.send(NONE, b"");
        assert!(peer.stack.info(id).is_ok());
    }
}

#[test]
fn what_is_sent_at_a_time_fits() {
    let (mut peer, id) = connected(None);
    let bytes: Vec<u8> = (0..50_000_u32).map(|byte| (byte * 7) as u8).collect();
    assert_eq!(peer.stack.space(id), Ok(LARGE));
    assert_eq!(peer.stack.send(id, &bytes), Ok(bytes.len()));
    assert_eq!(peer.stack.space(id), Ok(LARGE - bytes.len()));
    assert_eq!(take(&mut peer, id), bytes);
    // The receive buffer was not needed.
    assert_eq!(peer.stack.info(id).unwrap().receive_window as usize, SMALL);
}

#[test]
fn the_buffer_stays_while_it_holds_something() {
    let (mut peer, id) = connected(None);
    assert_eq!(peer.stack.send(id, &[1; 1_000]), Ok(1_000));
    assert_eq!(peer.stack.space(id), Ok(SMALL - 1_000));
    assert_eq!(peer.stack.send(id, &[2; 10_000]), Ok(SMALL - 1_000));
    assert_eq!(take(&mut peer, id), [&[1; 1_000][..], &[2; SMALL - 1_000]].concat());
    assert_eq!(events(&mut peer.stack), [Event::Writable(id)]);
    assert_eq!(peer.stack.send(id, &[3; 10_000]), Ok(10_000));
    assert_eq!(take(&mut peer, id), [3; 10_000]);
    // Data that have come and were not read are kept.
    let (mut peer, id) = connected(None);
    peer.send(NONE, b"unread");
    peer.poll();
    assert_eq!(peer.stack.send(id, &[1; 10_000]), Ok(SMALL));
    let mut bytes = [0; 10];
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(6)));
    assert_eq!(&bytes[..6], b"unread");
}

#[test]
fn a_peer_that_fills_the_window_gets_a_larger_one() {
    let (mut peer, id) = connected(None);
    let mut bytes = vec![0; LARGE];
    // Less than half of it says nothing.
    peer.send(NONE, &[1; 1_000]);
    peer.poll();
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(1_000)));
    assert_eq!(peer.poll(), []);
    for _ in 0..3 {
        peer.send(NONE, &[2; 1_000]);
    }
    let [.., last] = &peer.poll()[..] else { panic!("no ACK") };
    assert_eq!((last.ack, usize::from(last.window)), (Some(peer.seq), SMALL - 3_000));
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(3_000)));
    let [update] = &peer.poll()[..] else { panic!("no window update") };
    assert_eq!((update.seq, update.ack, usize::from(update.window)), (peer.ack.unwrap(), Some(peer.seq), LARGE));
    assert_eq!(peer.poll(), []);
    for number in 0..60_u8 {
        peer.send(NONE, &[number; 1_000]);
    }
    peer.poll();
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(60_000)));
    assert!((0..60_usize).all(|number| bytes[number * 1_000..][..1_000] == [number as u8; 1_000]));
}

/// The new socket believes that the peer knows what has arrived: without this acknowledgment, the peer would repeat it.
#[test]
fn what_was_read_before_it_was_acknowledged_is_acknowledged() {
    let (mut peer, id) = connected(None);
    peer.send(NONE, &[1; 3_000]);
    peer.stack.poll();
    assert_eq!(peer.stack.recv(id, &mut [0; LARGE]), Ok(Some(3_000)));
    let acks = peer.poll();
    assert_eq!(acks.last().map(|got| (got.ack, usize::from(got.window))), Some((Some(peer.seq), LARGE)));
}

/// What is sent goes with the acknowledgment.
#[test]
fn an_answer_acknowledges() {
    let (mut peer, id) = connected(None);
    peer.send(NONE, &[1; 100]);
    peer.poll();
    assert_eq!(peer.stack.recv(id, &mut [0; 1_000]), Ok(Some(100)));
    assert_eq!(peer.stack.send(id, &[2; 6_000]), Ok(6_000));
    let got = peer.poll();
    assert!(got.iter().all(|got| !got.data.is_empty() && got.ack == Some(peer.seq)), "{got:?}");
}

#[test]
fn the_peers_window_keeps_its_shift() {
    let (mut peer, id) = connected(Some(3));
    let limited = |peer: &mut Peer, window: u16| {
        peer.segment_with_window(NONE, peer.seq, peer.ack, b"", window);
        peer.poll();
    };
    limited(&mut peer, 250);
    assert_eq!(peer.stack.send(id, &[1; 10_000]), Ok(10_000));
    let sent: usize = peer.poll().iter().map(|got| got.data.len()).sum();
    assert_eq!(sent, 2_000, "250 units of 8 bytes");
    peer.ack = peer.ack.map(|ack| ack + 2_000);
    limited(&mut peer, 500);
    peer.ack = peer.ack.map(|ack| ack + 4_000);
    limited(&mut peer, 500);
    let info = peer.stack.info(id).unwrap();
    assert_eq!((info.unacknowledged, info.send_window), (4_000, 4_000));
}

/// The window of a SYN has no unit, also when it is the last one that was heard.
#[test]
fn a_client_does_not_scale_the_window_of_the_syn() {
    let mut config = config();
    config.initial_buffer = SMALL;
    let mut peer = Peer::new(config);
    peer.syn_options.1 = Some(7);
    let id = peer.stack.connect(peer_socket(443)).unwrap();
    let [syn] = &peer.poll()[..] else { panic!("no SYN") };
    (peer.ports, peer.ack) = ((443, syn.ports.0), Some(syn.seq + 1));
    peer.segment_with_window(TcpControl::Syn, peer.seq, peer.ack, b"", 1_000);
    peer.seq += 1;
    peer.poll();
    assert_eq!(peer.stack.send(id, &[1; 60_000]), Ok(60_000));
    let sent: usize = peer.poll().iter().map(|got| got.data.len()).sum();
    assert!(sent <= 1_000, "{sent}");
}

/// A peer that has closed its direction still gets long answers.
#[test]
fn it_grows_after_the_peers_end() {
    let (mut peer, id) = connected(None);
    peer.send(TcpControl::Fin, b"request");
    peer.poll();
    let mut bytes = [0; 10];
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(7)));
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(0)));
    assert_eq!(peer.stack.send(id, &[5; 20_000]), Ok(20_000));
    assert_eq!(take(&mut peer, id), [5; 20_000]);
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(0)));
    peer.stack.shutdown(id).unwrap();
    let [fin] = &peer.poll()[..] else { panic!("no FIN") };
    assert_eq!(fin.control, TcpControl::Fin);
    peer.ack = Some(fin.seq + 1);
    peer.send(NONE, b"");
    peer.poll();
    assert!(
        matches!(events(&mut peer.stack)[..], [.., Event::Ended(ended, dpdk_sockets::Ended::Closed)] if ended == id)
    );
}

/// Without room on the wire, the acknowledgment waits.
#[test]
fn a_full_wire_only_delays_what_is_owed() {
    let (mut peer, id) = connected(None);
    peer.send(NONE, &[1; 3_000]);
    peer.stack.poll();
    peer.stack.wire_mut().room = 0;
    assert_eq!(peer.stack.recv(id, &mut [0; LARGE]), Ok(Some(3_000)));
    peer.stack.poll();
    assert!(peer.stack.wire().from_stack.is_empty());
    peer.stack.wire_mut().room = usize::MAX;
    let acks = peer.wait(Duration::from_millis(1));
    assert_eq!(acks.last().map(|got| (got.ack, usize::from(got.window))), Some((Some(peer.seq), LARGE)));
}
