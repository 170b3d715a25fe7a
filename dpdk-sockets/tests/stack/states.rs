// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Every state of a connection (RFC 9293, figure 5), and what a reset, a SYN, and an old segment do in it.

use crate::peer::{Peer, config, events, peer_socket};
use core::time::Duration;
use dpdk_sockets::{ConnectionId, Ended, Event};
use smoltcp::wire::{TcpControl, TcpSeqNumber};

const FIN: TcpControl = TcpControl::Fin;
const NONE: TcpControl = TcpControl::None;
const RST: TcpControl = TcpControl::Rst;
const SYN: TcpControl = TcpControl::Syn;

/// States in which both numbers are known, and the connection is the program's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
}

const STATES: [State; 6] =
    [State::Established, State::FinWait1, State::FinWait2, State::CloseWait, State::Closing, State::LastAck];

/// Each state, of a connection that the peer has opened and of one that the stack has.
fn all() -> impl Iterator<Item = (State, bool)> {
    STATES.into_iter().flat_map(|state| [(state, false), (state, true)])
}

/// A connection in this state; the peer's numbers are the next ones. Nothing is left to read or to tell.
fn reach((state, is_asked): (State, bool)) -> (Peer, ConnectionId) {
    let (mut peer, id) = if is_asked { connected() } else { Peer::connected() };
    match state {
        State::Established => (),
        State::FinWait1 | State::FinWait2 | State::Closing => {
            peer.stack.shutdown(id).unwrap();
            let fin = peer.poll().remove(0);
            if state == State::FinWait2 {
                peer.acknowledge(&fin);
            }
            if state == State::Closing {
                peer.send(FIN, b"");
            }
        }
        State::CloseWait | State::LastAck => {
            peer.send(FIN, b"");
            peer.poll();
            if state == State::LastAck {
                peer.stack.shutdown(id).unwrap();
            }
        }
    }
    peer.poll();
    events(&mut peer.stack);
    (peer, id)
}

/// What is acknowledged to a peer that has acknowledged all but a FIN.
fn next_number(state: State, peer: &Peer) -> TcpSeqNumber {
    let is_fin_open = matches!(state, State::FinWait1 | State::Closing | State::LastAck);
    peer.ack.unwrap() + usize::from(is_fin_open)
}

/// A connection that the stack has asked for: the peer has seen its SYN.
fn asked() -> (Peer, ConnectionId, TcpSeqNumber) {
    let mut peer = Peer::new(config());
    let id = peer.stack.connect(peer_socket(443)).unwrap();
    let syn = peer.poll().remove(0);
    peer.ports = (443, syn.ports.0);
    (peer, id, syn.seq)
}

/// A connection that the stack has opened.
fn connected() -> (Peer, ConnectionId) {
    let (mut peer, id, syn) = asked();
    peer.ack = Some(syn + 1);
    peer.send(SYN, b"");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Connected(id)]);
    (peer, id)
}

#[test]
fn a_reset_with_the_right_number_ends_each_state() {
    for (state, is_asked) in all() {
        let (mut peer, id) = reach((state, is_asked));
        peer.send(RST, b"");
        assert_eq!(peer.poll(), [], "{state:?}");
        assert_eq!(events(&mut peer.stack), [Event::Ended(id, Ended::Reset)], "{state:?}");
        peer.send(NONE, b"");
        assert_eq!(peer.poll()[0].control, RST, "{state:?}: nothing is left");
    }
}

/// SHLD-2.
#[test]
fn a_reset_may_have_text() {
    let (mut peer, id) = Peer::connected();
    peer.send(RST, b"out of memory");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Ended(id, Ended::Reset)]);
}

/// RFC 5961.
#[test]
fn what_could_be_forged_is_challenged_in_each_state() {
    for (state, is_asked) in all() {
        for (control, offset) in [(RST, 1), (RST, 1_000), (SYN, 0), (SYN, 1_000_000)] {
            let (mut peer, _) = reach((state, is_asked));
            peer.segment(control, peer.seq + offset, None, b"");
            let [challenge] = &peer.poll()[..] else { panic!("no challenge in {state:?}") };
            assert_eq!((challenge.control, challenge.ack), (NONE, Some(peer.seq)), "{state:?}");
            assert_eq!(challenge.seq, next_number(state, &peer), "{state:?}");
            assert_eq!(events(&mut peer.stack), [], "{state:?}");
        }
    }
}

#[test]
fn old_segments_are_acknowledged_in_each_state() {
    for (state, is_asked) in all() {
        let (mut peer, _) = reach((state, is_asked));
        peer.segment(NONE, peer.seq - 2_000, peer.ack, b"old data");
        let [ack] = &peer.poll()[..] else { panic!("no answer in {state:?}") };
        assert_eq!((ack.control, ack.ack), (NONE, Some(peer.seq)), "{state:?}");
        assert_eq!(events(&mut peer.stack), [], "{state:?}");
    }
}

/// All the ways to the end, with the FIN of the peer before, after and together with the acknowledgment of ours.
#[test]
fn each_state_ends_in_order() {
    for (state, is_asked) in all() {
        let (mut peer, id) = reach((state, is_asked));
        if matches!(state, State::Established | State::CloseWait) {
            peer.stack.shutdown(id).unwrap();
            peer.poll();
        }
        let has_sent_fin = matches!(state, State::CloseWait | State::Closing | State::LastAck);
        if state != State::FinWait2 {
            peer.ack = peer.ack.map(|ack| ack + 1);
        }
        peer.send(if has_sent_fin { NONE } else { FIN }, b"");
        let answers = peer.poll();
        assert_eq!(answers.len(), usize::from(!has_sent_fin), "{state:?}");
        let told = events(&mut peer.stack);
        assert_eq!(told.last(), Some(&Event::Ended(id, Ended::Closed)), "{state:?}");
        assert_eq!(peer.stack.recv(id, &mut [0; 9]), Ok(Some(0)), "{state:?}");
        // TIME-WAIT is with the side that has closed first, or with both.
        peer.send(NONE, b"");
        let remembers = !matches!(state, State::CloseWait | State::LastAck);
        assert_eq!(peer.poll().is_empty(), remembers, "{state:?}");
    }
}

/// Data that arrive are read until the peer has sent its FIN, and data that were written are sent until the program has shut down.
#[test]
fn half_of_a_connection_works_for_long() {
    let (mut peer, id) = reach((State::FinWait2, false));
    let mut bytes = [0; 99];
    for _ in 0..20 {
        assert_eq!(peer.jump(Duration::from_secs(60)), []);
        peer.send(NONE, b"more");
        assert_eq!(peer.poll()[0].ack, Some(peer.seq));
        assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(4)));
    }
    let (mut peer, id) = reach((State::CloseWait, true));
    for _ in 0..20 {
        assert_eq!(peer.jump(Duration::from_secs(60)), []);
        peer.stack.send(id, b"more").unwrap();
        let got = peer.poll().remove(0);
        assert_eq!(&got.data[..], b"more");
        peer.acknowledge(&got);
        peer.poll();
        assert_eq!(peer.stack.recv(id, &mut bytes), Ok(Some(0)));
    }
}

/// RFC 9293, figure 9: an old SYN-ACK, or a forged one, is answered by a reset, and the right one counts.
#[test]
fn an_old_answer_to_a_syn_does_not_disturb() {
    for control in [SYN, NONE] {
        for (old, number) in [(77, 5), (1_000_000, 1_000_000_000)] {
            let (mut peer, id, syn) = asked();
            peer.segment(control, TcpSeqNumber(old), Some(syn + number), b"");
            let [reset] = &peer.poll()[..] else { panic!("no reset") };
            assert_eq!((reset.control, reset.seq), (RST, syn + number));
            peer.ack = Some(syn + 1);
            peer.send(SYN, b"");
            let [ack] = &peer.poll()[..] else { panic!("no acknowledgment") };
            assert_eq!((ack.control, ack.seq, ack.ack), (NONE, syn + 1, Some(peer.seq)));
            assert_eq!(events(&mut peer.stack), [Event::Connected(id)]);
            // What the reset had as its number is not taken for sent.
            peer.segment(RST, peer.seq + 9, None, b"");
            assert_eq!(peer.poll()[0].seq, syn + 1);
        }
    }
}

/// RFC 9293, section 3.10.7.4, fifth, in SYN-RECEIVED.
#[test]
fn a_wrong_acknowledgment_of_a_syn_is_reset() {
    let mut peer = Peer::new(config());
    peer.send(SYN, b"");
    let syn = peer.poll().remove(0);
    for wrong in [syn.seq, syn.seq + 2, syn.seq + 1_000_000] {
        peer.segment(NONE, peer.seq, Some(wrong), b"");
        let [reset] = &peer.poll()[..] else { panic!("no reset") };
        assert_eq!((reset.control, reset.seq), (RST, wrong));
    }
    peer.acknowledge(&syn);
    peer.poll();
    assert!(matches!(events(&mut peer.stack)[..], [Event::Accepted(..)]));
    peer.segment(RST, peer.seq + 9, None, b"");
    assert_eq!(peer.poll()[0].seq, syn.seq + 1);
}

/// RFC 9293, figure 8, with the SYN-ACK that the other side sends too; MUST-10.
#[test]
fn both_connect_at_once_and_say_so() {
    let (mut peer, id, syn) = asked();
    peer.send(SYN, b"");
    let [answer] = &peer.poll()[..] else { panic!("no SYN-ACK") };
    assert_eq!((answer.control, answer.seq, answer.ack), (SYN, syn, Some(peer.seq)));
    assert_eq!(events(&mut peer.stack), []);
    peer.segment(SYN, peer.seq - 1, Some(syn + 1), b"");
    let [ack] = &peer.poll()[..] else { panic!("no ACK") };
    assert_eq!((ack.control, ack.seq, ack.ack), (NONE, syn + 1, Some(peer.seq)));
    peer.ack = Some(syn + 1);
    peer.send(NONE, b"data");
    assert_eq!(peer.poll()[0].ack, Some(peer.seq));
    assert_eq!(events(&mut peer.stack), [Event::Connected(id), Event::Readable(id)]);
}

/// MUST-11: whoever has asked is told, and a listener goes on.
#[test]
fn a_reset_in_syn_received_depends_on_who_began() {
    let (mut peer, id, _) = asked();
    peer.send(SYN, b"");
    peer.poll();
    peer.send(RST, b"");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Ended(id, Ended::Refused)]);

    let mut peer = Peer::new(config());
    peer.send(SYN, b"");
    peer.poll();
    peer.send(RST, b"");
    assert_eq!((peer.poll(), events(&mut peer.stack)), (vec![], vec![]));
    peer.handshake();
}

/// RFC 9293, figure 10: a peer that has forgotten the connection begins anew.
#[test]
fn a_peer_that_has_forgotten_is_found_out() {
    let (mut peer, id) = Peer::connected();
    let new = peer.seq + 5_000_000;
    peer.segment(SYN, new, None, b"");
    let challenge = peer.poll().remove(0);
    peer.segment(RST, challenge.ack.unwrap(), None, b"");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Ended(id, Ended::Reset)]);
    (peer.seq, peer.ack) = (new, None);
    peer.handshake();
    assert!(matches!(events(&mut peer.stack)[..], [Event::Accepted(..)]));
}

/// A FIN may come with the last acknowledgment of the handshake.
#[test]
fn a_peer_may_close_at_once() {
    let mut peer = Peer::new(config());
    peer.send(SYN, b"");
    let syn = peer.poll().remove(0);
    peer.ack = Some(syn.seq + 1);
    peer.send(FIN, b"all");
    assert_eq!(peer.poll()[0].ack, Some(peer.seq));
    let [Event::Accepted(_, id), Event::Readable(_)] = events(&mut peer.stack)[..] else { panic!("not accepted") };
    let mut bytes = [0; 9];
    assert_eq!((peer.stack.recv(id, &mut bytes), peer.stack.recv(id, &mut [0])), (Ok(Some(3)), Ok(Some(0))));
}

/// MUST-12: once, also if data are left that nobody will acknowledge, and the program takes its time.
#[test]
fn an_end_is_told_once() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, b"lost").unwrap();
    peer.poll();
    peer.send(RST, b"");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Ended(id, Ended::Reset)]);
    // The same ports again, while the program still has the old connection.
    peer.handshake();
    let [Event::Accepted(_, new)] = events(&mut peer.stack)[..] else { panic!("not accepted") };
    for _ in 0..150 {
        peer.jump(Duration::from_secs(1));
    }
    assert_eq!(events(&mut peer.stack), []);
    peer.send(NONE, b"data");
    peer.poll();
    assert_eq!(events(&mut peer.stack), [Event::Readable(new)]);
    assert_eq!((peer.stack.close(id), peer.stack.abort(new)), (Ok(()), Ok(())));
}
