// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The options of TCP (RFC 9293, section 3.2), also those that lie.

use crate::edit::with_options;
use crate::peer::{Got, Peer, config, events, peer_socket};
use dpdk_sockets::{ConnectionId, Event};
use smoltcp::wire::TcpControl;

const NONE: TcpControl = TcpControl::None;
const SYN: TcpControl = TcpControl::Syn;

/// A connection of a peer whose SYN has these options.
fn connected(options: &[u8]) -> (Peer, ConnectionId, Got) {
    let mut peer = Peer::new(config());
    peer.send(SYN, b"");
    peer.change(|frame| with_options(frame, options));
    let [syn] = &peer.poll()[..] else { panic!("no SYN-ACK for {options:?}") };
    let syn = syn.clone();
    peer.acknowledge(&syn);
    peer.poll();
    let [Event::Accepted(_, id)] = events(&mut peer.stack)[..] else { panic!("not accepted with {options:?}") };
    (peer, id, syn)
}

/// MUST-6, MUST-14, MUST-15, MUST-16 and MUST-64, and SHLD-28.
#[test]
fn segments_are_as_long_as_the_option_says() {
    for (options, length) in [
        (&[][..], 536),
        (&[2, 4, 2, 0], 512),
        (&[2, 4, 5, 180], 1_460),
        // More than the network takes, nothing, and less than anybody can mean.
        (&[2, 4, 255, 255], 1_460),
        (&[2, 4, 0, 0], 536),
        (&[2, 4, 0, 1], 48),
        // Not on a word, after an option that nobody knows, after the end of the list, and twice.
        (&[1, 2, 4, 2, 0], 512),
        (&[253, 3, 9, 2, 4, 2, 0], 512),
        (&[0, 2, 4, 2, 0], 536),
        (&[2, 4, 2, 0, 2, 4, 3, 0], 768),
    ] {
        let (mut peer, id, _) = connected(options);
        peer.stack.send(id, &[1; 3_000]).unwrap();
        assert_eq!(peer.poll()[0].data.len(), length, "{options:?}");
    }
}

/// RFC 7323, section 2.3: a shift of more than 14 counts as 14.
#[test]
fn a_window_is_scaled_by_14_at_most() {
    let (mut peer, id, syn) = connected(&[2, 4, 5, 180, 3, 3, 15]);
    assert!(syn.options.windows(3).any(|option| option[..2] == [3, 3]), "the stack scales too: {:?}", syn.options);
    peer.segment_with_window(NONE, peer.seq, peer.ack, b"", 1);
    peer.poll();
    peer.stack.send(id, &[1; 60_000]).unwrap();
    let sent: usize = peer.poll().iter().map(|got| got.data.len()).sum();
    assert_eq!(sent, 1 << 14);
}

/// Who did not ask for an option does not get it: MUST-65, MUST-68 and MUST-69 too.
#[test]
fn the_stack_says_only_what_it_may() {
    let (mut peer, id, syn) = connected(&[2, 4, 5, 180]);
    assert_eq!(syn.options, [2, 4, 5, 180]);
    peer.send(NONE, b"question");
    peer.stack.send(id, b"answer").unwrap();
    assert!(peer.poll().iter().all(|got| got.options.is_empty()));

    let mut peer = Peer::new(config());
    peer.stack.connect(peer_socket(443)).unwrap();
    let syn = peer.poll().remove(0);
    // The maximum segment size, no scale, selective acknowledgments, and zeros behind them.
    assert_eq!(syn.options, [2, 4, 5, 180, 3, 3, 0, 4, 2, 0, 0, 0]);
}

/// SHLD-6 and MUST-67.
#[test]
fn the_segment_size_is_that_of_the_network() {
    for (mtu, size) in [(576, 536_u16), (1_500, 1_460), (9_000, 8_960)] {
        let mut config = config();
        config.mtu = mtu;
        let mut peer = Peer::new(config);
        peer.send(SYN, b"");
        assert_eq!(peer.poll()[0].options[2..4], size.to_be_bytes());
    }
}

/// MUST-7: nothing happens, and the next segment counts.
#[test]
fn options_with_impossible_lengths_are_dropped_with_their_segment() {
    for options in [
        &[2, 0][..],
        &[2, 1],
        &[2, 3, 5, 180],
        &[2, 5, 5, 180, 0],
        &[2, 40, 5, 180],
        &[1, 1, 1, 2],
        &[3, 2],
        &[3, 4, 1, 1],
        &[4, 3, 0],
        &[5, 2],
        &[5, 9, 0, 0, 0, 0, 0, 0, 0],
        &[253, 0],
        &[253, 1],
        &[8, 255],
    ] {
        let mut peer = Peer::new(config());
        peer.send(SYN, b"");
        peer.change(|frame| with_options(frame, options));
        assert_eq!((peer.poll(), peer.stack.connections()), (vec![], 0), "{options:?}");
        peer.handshake();
        let [Event::Accepted(_, id)] = events(&mut peer.stack)[..] else { panic!("not accepted") };
        peer.segment(TcpControl::Fin, peer.seq, peer.ack, b"data");
        peer.change(|frame| with_options(frame, options));
        assert_eq!((peer.poll(), events(&mut peer.stack)), (vec![], vec![]), "{options:?}");
        peer.send(NONE, b"data");
        assert_eq!((peer.poll()[0].ack, events(&mut peer.stack)), (Some(peer.seq), vec![Event::Readable(id)]));
    }
}

/// MUST-5 and MUST-6: selective acknowledgments of what was never sent, timestamps that nobody asked for, a segment size where none
/// belongs, and what nobody knows.
#[test]
fn options_in_any_segment_do_no_harm() {
    for options in [
        &[1; 40][..],
        &[0; 40],
        &[5, 10, 0, 0, 0, 0, 255, 255, 255, 255],
        &[1, 1, 5, 34, 1, 2, 3, 4, 1, 2, 3, 4, 9, 9, 9, 9, 8, 8, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1],
        &[8, 10, 255, 255, 255, 255, 1, 2, 3, 4],
        &[2, 4, 0, 50, 3, 3, 14],
        &[254, 40],
    ] {
        let (mut peer, id) = Peer::connected();
        let mut options = options.to_vec();
        if options == [254, 40] {
            options.resize(40, 7);
        }
        peer.stack.send(id, &[1; 2_000]).unwrap();
        let got = peer.poll();
        peer.ack = Some(got[0].seq + 1_460);
        peer.send(NONE, b"data");
        peer.change(|frame| with_options(frame, &options));
        assert_eq!(peer.poll()[0].ack, Some(peer.seq), "{options:?}");
        peer.acknowledge(&got[1]);
        peer.stack.send(id, &[1; 2_000]).unwrap();
        assert_eq!(peer.poll()[0].data.len(), 1_460, "{options:?}");
    }
}

/// A cookie has no room for options but the segment size, and is made of the same liars.
#[test]
fn cookies_survive_options_that_lie() {
    for options in [&[][..], &[2, 0], &[2, 4, 0, 0], &[2, 40, 1, 1], &[0, 2, 4, 2, 0], &[253, 1, 2, 4, 2, 0]] {
        let mut config = config();
        config.backlog = 0;
        let mut peer = Peer::new(config);
        peer.send(SYN, b"");
        peer.change(|frame| with_options(frame, options));
        let got = peer.poll();
        assert_eq!((got[0].control, got[0].ack), (SYN, Some(peer.seq)), "{options:?}");
        peer.acknowledge(&got[0]);
        peer.poll();
        assert!(matches!(events(&mut peer.stack)[..], [Event::Accepted(..)]), "{options:?}");
    }
}
