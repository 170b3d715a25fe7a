// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Peers that say nothing.

use crate::peer::{Peer, config, events};
use core::time::Duration;
use dpdk_sockets::{Config, ConnectionId, Ended, Event};
use smoltcp::wire::TcpControl;

const SECOND: Duration = Duration::from_secs(1);

fn connected(change: fn(&mut Config)) -> (Peer, ConnectionId) {
    let mut config = config();
    change(&mut config);
    let mut peer = Peer::new(config);
    peer.handshake();
    let Some(Event::Accepted(_, id)) = peer.stack.next_event() else { panic!("not accepted") };
    (peer, id)
}

#[test]
fn silent_peers_are_left_alone() {
    let (mut peer, id) = connected(|_| ());
    assert_eq!(peer.wait(1_000 * SECOND), []);
    assert_eq!((peer.stack.peer(id).is_ok(), events(&mut peer.stack)), (true, vec![]));
}

/// RFC 9293, section 3.8.4.
#[test]
fn a_peer_that_answers_keep_alives_stays() {
    let (mut peer, _) = connected(|config| config.keep_alive = Some(10 * SECOND));
    assert_eq!(peer.wait(9 * SECOND), [], "nothing is asked early");
    let mut probes = 0;
    for _ in 0..3_000 {
        for probe in peer.wait(SECOND / 10) {
            // One number before the next, so that the peer answers.
            assert_eq!((probe.control, Some(probe.seq + 1)), (TcpControl::None, peer.ack));
            peer.send(TcpControl::None, b"");
            probes += 1;
        }
    }
    assert!((29..=30).contains(&probes), "{probes} probes in 300 s");
    assert_eq!(events(&mut peer.stack), []);
}

#[test]
fn a_peer_that_answers_no_keep_alive_is_given_up() {
    let (mut peer, id) = connected(|config| {
        (config.keep_alive, config.user_timeout) = (Some(10 * SECOND), 100 * SECOND);
    });
    assert_eq!(peer.wait(109 * SECOND).len(), 10);
    assert_eq!(events(&mut peer.stack), []);
    let got = peer.wait(2 * SECOND);
    assert_eq!(got.last().map(|got| got.control), Some(TcpControl::Rst));
    assert_eq!(events(&mut peer.stack), [Event::Ended(id, Ended::TimedOut)]);
}

#[test]
fn an_idle_connection_is_reset() {
    let (mut peer, id) = connected(|config| {
        (config.keep_alive, config.idle_timeout) = (Some(10 * SECOND), Some(25 * SECOND));
    });
    let wait = |peer: &mut Peer, seconds: u32| {
        let mut resets = 0;
        for got in peer.wait(seconds * SECOND) {
            resets += usize::from(got.control == TcpControl::Rst);
            // The answer to a keep-alive is no sign of use.
            if got.data.len() <= 1 {
                peer.send(TcpControl::None, b"");
            }
        }
        resets
    };
    assert_eq!(wait(&mut peer, 24), 0);
    peer.send(TcpControl::Psh, b"received");
    assert_eq!(wait(&mut peer, 24), 0);
    peer.stack.send(id, b"sent").unwrap();
    peer.ack = peer.ack.map(|ack| ack + 4);
    assert_eq!(wait(&mut peer, 24), 0);
    assert_eq!(events(&mut peer.stack), [Event::Readable(id)]);
    peer.send(TcpControl::None, b"");
    assert_eq!(wait(&mut peer, 2), 1);
    assert_eq!(events(&mut peer.stack), [Event::Ended(id, Ended::Idle)]);
}
