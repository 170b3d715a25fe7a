// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

use crate::peer::{Peer, events};
use core::time::Duration;
use dpdk_sockets::{ConnectionError, Ended, Event};
use smoltcp::wire::TcpControl;

const FIN: TcpControl = TcpControl::Fin;
const NONE: TcpControl = TcpControl::None;
const RST: TcpControl = TcpControl::Rst;

#[test]
fn the_peer_closes_first() {
    let (mut peer, id) = Peer::connected();
    peer.send(FIN, b"last");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Readable(id)]);
    let mut bytes = [0; 9];
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(4)));
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(0)));
    assert_eq!(peer.stack.send(id, b"still"), Ok(5));
    peer.stack.shutdown(id).unwrap();
    assert_eq!(peer.stack.send(id, b"no"), Err(ConnectionError::ShutDown));
    let [fin] = &peer.poll()[..] else { panic!("data and FIN in one segment") };
    assert_eq!((fin.control, &fin.data[..]), (FIN, &b"still"[..]));
    peer.ack = Some(fin.seq + 6);
    peer.send(NONE, b"");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Ended(id, Ended::Closed)]);
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(0)));
    peer.stack.close(id).unwrap();
    peer.send(NONE, b"");
    assert_eq!(peer.poll()[0].control, RST, "the peer closed first, so TIME-WAIT is its");
}

/// The last segment of the data is lost, and so is the FIN with it; when the data come again, the FIN does not.
#[test]
fn a_fin_is_repeated_after_duplicate_acknowledgments() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, b"last").unwrap();
    peer.stack.shutdown(id).unwrap();
    let [fin] = &peer.poll()[..] else { panic!("data and FIN in one segment") };
    peer.ack = Some(fin.seq + 4);
    for _ in 0..5 {
        peer.send(NONE, b"");
        assert_eq!(peer.poll(), []);
    }
    let again = peer.wait(Duration::from_millis(1_100));
    let [again] = &again[..] else { panic!("{again:?}") };
    assert_eq!((again.control, again.seq, again.data.len()), (FIN, fin.seq + 4, 0));
    peer.ack = Some(fin.seq + 5);
    peer.send(FIN, b"");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Readable(id), Event::Ended(id, Ended::Closed)]);
}

#[test]
fn the_stack_closes_first_and_remembers() {
    let (mut peer, id) = Peer::connected();
    peer.stack.close(id).unwrap();
    assert_eq!(peer.stack.recv(id, &mut [0; 9]), Err(ConnectionError::NoSuchConnection));
    let [fin] = &peer.poll()[..] else { panic!("no FIN") };
    assert_eq!(fin.control, FIN);
    peer.ack = Some(fin.seq + 1);
    peer.send(FIN, b"");
    let [ack] = &peer.poll()[..] else { panic!("no ACK") };
    assert_eq!(ack.ack, Some(peer.seq));
    // The acknowledgment was lost.
    peer.segment(FIN, peer.seq - 1, peer.ack, b"");
    let [again] = &peer.poll()[..] else { panic!("no ACK") };
    assert_eq!((again.ack, again.seq), (ack.ack, ack.seq));
    assert_eq!(events(&mut peer.stack), []);
    peer.wait(Duration::from_millis(60_200));
    peer.segment(FIN, peer.seq - 1, peer.ack, b"");
    assert_eq!(peer.poll()[0].control, RST, "nobody remembers");
}

#[test]
fn a_new_connection_ends_time_wait() {
    let (mut peer, id) = Peer::connected();
    peer.stack.close(id).unwrap();
    let fin = peer.poll().remove(0);
    peer.ack = Some(fin.seq + 1);
    peer.send(FIN, b"");
    peer.poll();
    peer.handshake();
    assert!(matches!(events(&mut peer.stack)[..], [Event::Accepted(..)]));
}

#[test]
fn both_close_at_once() {
    let (mut peer, id) = Peer::connected();
    peer.stack.shutdown(id).unwrap();
    let fin = peer.poll().remove(0);
    peer.send(FIN, b"");
    peer.poll();
    peer.ack = Some(fin.seq + 1);
    peer.send(NONE, b"");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Readable(id), Event::Ended(id, Ended::Closed)]);
}

#[test]
fn the_peer_goes_on_after_a_shutdown() {
    let (mut peer, id) = Peer::connected();
    peer.stack.shutdown(id).unwrap();
    let fin = peer.poll().remove(0);
    peer.ack = Some(fin.seq + 1);
    peer.send(NONE, b"more");
    peer.wait(Duration::from_secs(300));
    let mut bytes = [0; 9];
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(4)));
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(None));
}

#[test]
fn a_peer_that_never_closes_is_given_up_after_close() {
    let (mut peer, id) = Peer::connected();
    peer.stack.close(id).unwrap();
    let fin = peer.poll().remove(0);
    peer.ack = Some(fin.seq + 1);
    peer.send(NONE, b"");
    peer.wait(Duration::from_secs(119));
    let got = peer.wait(Duration::from_secs(2));
    assert_eq!(got.iter().map(|got| got.control).collect::<Vec<_>>(), [RST]);
}

/// RFC 1122, section 4.2.2.13.
#[test]
fn what_nobody_reads_is_answered_by_a_reset() {
    let (mut peer, id) = Peer::connected();
    peer.send(NONE, b"unread");
    peer.poll();
    peer.stack.close(id).unwrap();
    assert_eq!(peer.poll()[0].control, RST);

    let (mut peer, id) = Peer::connected();
    peer.stack.close(id).unwrap();
    peer.poll();
    peer.send(NONE, b"too late");
    assert_eq!(peer.poll()[0].control, RST);
}

#[test]
fn a_reset_ends_the_connection_and_what_has_arrived_can_be_read() {
    let (mut peer, id) = Peer::connected();
    peer.send(NONE, b"before");
    peer.send(RST, b"");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Readable(id), Event::Ended(id, Ended::Reset)]);
    let mut bytes = [0; 9];
    assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(6)));
    assert_eq!(peer.stack.recv(id, &mut bytes), Err(ConnectionError::Ended(Ended::Reset)));
    assert_eq!(peer.stack.send(id, b"no"), Err(ConnectionError::Ended(Ended::Reset)));
    assert_eq!(peer.stack.close(id), Ok(()));
}

#[test]
fn an_abort_is_a_reset() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, b"lost").unwrap();
    peer.stack.abort(id).unwrap();
    let got = peer.poll();
    assert_eq!(got.iter().map(|got| got.control).collect::<Vec<_>>(), [RST]);
    assert_eq!(Some(got[0].seq), peer.ack);
    assert_eq!(peer.stack.abort(id), Err(ConnectionError::NoSuchConnection));
}

/// smoltcp 0.14 would send acknowledgments for ever: its timer for probes is not stopped when nothing is left to send.
#[test]
fn a_peer_that_is_full_at_the_end_starts_no_storm() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, &[1; 2_000]).unwrap();
    peer.stack.shutdown(id).unwrap();
    assert_eq!(peer.poll().len(), 2);
    for acknowledged in [1_460, 541] {
        peer.ack = peer.ack.map(|ack| ack + acknowledged);
        peer.segment_with_window(NONE, peer.seq, peer.ack, b"", 0);
        assert_eq!(peer.poll(), []);
    }
    let got = peer.wait(Duration::from_secs(30));
    assert!(got.len() <= 60, "{} segments in 30 s", got.len());
    peer.send(FIN, b"");
    assert_eq!(peer.poll()[0].ack, Some(peer.seq));
    assert_eq!(events(&mut peer.stack), [Event::Readable(id), Event::Ended(id, Ended::Closed)]);
}
