// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Counters, and the list of connections.

use crate::hosts::other_frame;
use crate::peer::{PEER, PORT, Peer, STACK, WINDOW, config, peer_socket};
use core::net::SocketAddr;
use core::time::Duration;
use dpdk_sockets::watch::{ConnectionInfo, TcpState};
use dpdk_sockets::{ConnectionId, Counters, Ended, Event, Stack, wire::Memory};
use smoltcp::wire::{IpProtocol, TcpControl};

/// Counts what happens meanwhile.
fn counted(peer: &mut Peer, during: impl FnOnce(&mut Peer)) -> Vec<(&'static str, u64)> {
    let before = peer.stack.counters();
    during(peer);
    let after = peer.stack.counters();
    let pairs = before.iter().zip(after.iter());
    let grown = pairs.filter_map(|((name, before), (_, after))| (after > before).then_some((name, after - before)));
    grown.filter(|(name, _)| !["frames", "idle_micros"].contains(name)).collect()
}

#[test]
fn segments_and_bytes_are_counted() {
    let (mut peer, id) = Peer::connected();
    let grown = counted(&mut peer, |peer| {
        peer.send(TcpControl::Psh, &[1; 700]);
        peer.stack.poll();
        peer.stack.send(id, &[2; 2_000]).unwrap();
        assert_eq!(peer.poll().iter().map(|got| got.data.len()).collect::<Vec<_>>(), [1_460, 540]);
    });
    let expected = [("segments_received", 1), ("segments_sent", 2), ("bytes_received", 700), ("bytes_sent", 2_000)];
    assert_eq!(grown, expected);
    assert_eq!(peer.stack.counters().frames, 4, "with the handshake, and ARP");
}

#[test]
fn polls_that_find_nothing_are_timed() {
    let (mut peer, _) = Peer::connected();
    peer.poll();
    let before = peer.stack.counters().idle_micros;
    peer.jump(Duration::from_millis(7));
    assert_eq!(peer.stack.counters().idle_micros - before, 7_000);
    // Not those in which a frame came.
    peer.send(TcpControl::Psh, b"text");
    peer.stack.poll();
    peer.stack.wire_mut().now += Duration::from_millis(3);
    peer.stack.poll();
    assert_eq!(peer.stack.counters().idle_micros - before, 7_000);
}

#[test]
fn what_is_sent_again_is_counted() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, &[2; 2_000]).unwrap();
    let [first, _] = &peer.poll()[..] else { panic!("not two segments") };
    let (first, again) = (first.seq, |peer: &mut Peer| peer.wait(Duration::from_secs(2)));
    let grown = counted(&mut peer, |peer| assert_eq!(again(peer).len(), 2));
    assert_eq!(grown, [("segments_sent", 2), ("retransmits", 2)]);
    assert_eq!(peer.stack.info(id).unwrap().retransmits, 2);
    // A part is acknowledged, and what was not sent before follows.
    peer.ack = Some(first + 2_000);
    peer.send(TcpControl::None, b"");
    peer.poll();
    let grown = counted(&mut peer, |peer| {
        peer.stack.send(id, b"more").unwrap();
        assert_eq!(peer.poll().len(), 1);
    });
    assert_eq!(grown, [("segments_sent", 1), ("bytes_sent", 4)]);
}

/// The engine begins again at what is not acknowledged, and may have nothing to say but an acknowledgment.
#[test]
fn an_acknowledgment_instead_of_a_repetition_repeats_nothing() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, &[2; 500]).unwrap();
    let first = peer.poll()[0].seq;
    peer.segment_with_window(TcpControl::None, peer.seq, peer.ack, b"", 0);
    peer.wait(Duration::from_millis(1_200));
    let grown = counted(&mut peer, |peer| {
        peer.segment_with_window(TcpControl::Psh, peer.seq, peer.ack, b"data", 0);
        let [ack] = &peer.poll()[..] else { panic!("no ACK") };
        assert_eq!((ack.seq, &ack.data[..]), (first + 500, &b""[..]));
    });
    assert!(grown.iter().all(|(name, _)| *name != "retransmits"), "{grown:?}");
}

/// RFC 9293, section 3.8.4: what asks for a sign has an old number and no new data.
#[test]
fn keep_alive_repeats_nothing() {
    let mut config = config();
    config.keep_alive = Some(Duration::from_secs(10));
    let mut peer = Peer::new(config);
    peer.handshake();
    let grown = counted(&mut peer, |peer| assert!(!peer.wait(Duration::from_secs(11)).is_empty()));
    assert!(grown.iter().all(|(name, _)| name.ends_with("_sent")), "{grown:?}");
}

#[test]
fn handshakes_that_are_repeated_are_counted() {
    let mut peer = Peer::new(config());
    peer.stack.connect(peer_socket(443)).unwrap();
    let grown = counted(&mut peer, |peer| assert_eq!(peer.wait(Duration::from_millis(1_500)).len(), 2));
    assert_eq!(grown, [("segments_sent", 2), ("retransmits", 1)]);
}

#[test]
fn gaps_and_repetitions_are_counted() {
    let (mut peer, id) = Peer::connected();
    let seq = peer.seq;
    let send = |peer: &mut Peer, offset, data: &[u8]| {
        peer.segment(TcpControl::Psh, seq + offset, peer.ack, data);
        peer.poll();
    };
    let grown = counted(&mut peer, |peer| {
        send(peer, 100, &[1; 100]);
        send(peer, 0, &[1; 100]);
        send(peer, 50, &[1; 150]);
        // Half of it is new.
        send(peer, 100, &[1; 200]);
    });
    let counted = |name| grown.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
    assert_eq!(["bytes_received", "out_of_order", "duplicates"].map(counted), [Some(300), Some(1), Some(1)]);
    let info = peer.stack.info(id).unwrap();
    assert_eq!((info.bytes_received, info.unread, info.out_of_order), (300, 300, 1));
}

/// How connections end, each in its own way, and what is counted then.
#[test]
fn each_end_is_counted_by_its_reason() {
    type Act = fn(&mut Peer, ConnectionId);
    let cases: [(&str, Act); 6] = [
        ("ended_closed", |peer, id| {
            peer.stack.close(id).unwrap();
            let fin = peer.poll()[0].clone();
            peer.ack = Some(fin.seq + 1);
            peer.send(TcpControl::Fin, b"");
            peer.poll();
        }),
        ("ended_reset", |peer, _| {
            peer.send(TcpControl::Rst, b"");
            peer.poll();
        }),
        ("ended_aborted", |peer, id| {
            peer.stack.abort(id).unwrap();
            assert_eq!(peer.poll()[0].control, TcpControl::Rst);
        }),
        ("ended_aborted", |peer, id| {
            peer.send(TcpControl::Psh, b"unread");
            peer.poll();
            peer.stack.close(id).unwrap();
            assert_eq!(peer.poll()[0].control, TcpControl::Rst);
        }),
        ("ended_timed_out", |peer, id| {
            peer.stack.send(id, b"to nobody").unwrap();
            assert_eq!(peer.wait(Duration::from_secs(121)).pop().unwrap().control, TcpControl::Rst);
        }),
        ("ended_idle", |peer, _| {
            peer.wait(Duration::from_secs(301));
        }),
    ];
    for (name, act) in cases {
        let mut config = config();
        config.idle_timeout = Some(Duration::from_secs(300));
        let mut peer = Peer::new(config);
        peer.handshake();
        let Some(Event::Accepted(_, id)) = peer.stack.next_event() else { panic!("not accepted") };
        let grown = counted(&mut peer, |peer| act(peer, id));
        let ends: Vec<_> = grown.into_iter().filter(|(name, _)| name.starts_with("ended")).collect();
        assert_eq!(ends, [(name, 1)]);
        let counters = peer.stack.counters();
        assert_eq!((counters.accepted, counters.resets_received), (1, u64::from(name == "ended_reset")));
    }
}

#[test]
fn what_was_asked_for_is_counted_by_its_outcome() {
    let mut peer = Peer::new(config());
    peer.stack.connect(peer_socket(443)).unwrap();
    let [syn] = &peer.poll()[..] else { panic!("no SYN") };
    (peer.ports, peer.ack) = ((443, syn.ports.0), Some(syn.seq + 1));
    peer.send(TcpControl::Syn, b"");
    peer.poll();
    peer.stack.connect(peer_socket(444)).unwrap();
    let [syn] = &peer.poll()[..] else { panic!("no SYN") };
    (peer.ports, peer.ack) = ((444, syn.ports.0), Some(syn.seq + 1));
    peer.send(TcpControl::Rst, b"");
    peer.poll();
    peer.has_arp = false;
    peer.stack.connect(SocketAddr::from(([192, 0, 2, 9], 80))).unwrap();
    peer.wait(Duration::from_secs(4));
    let counters = peer.stack.counters();
    let outcomes = (counters.connected, counters.ended_refused, counters.ended_unreachable);
    assert_eq!((counters.connects, outcomes, counters.resets_received), (3, (1, 1, 1), 1));
}

#[test]
fn handshakes_that_come_to_nothing_are_no_connections() {
    let mut peer = Peer::new(config());
    let listener = peer.stack.listen(81).unwrap();
    let open = |peer: &mut Peer, ports| {
        (peer.ports, peer.ack) = (ports, None);
        peer.send(TcpControl::Syn, b"");
        peer.poll().first().map(|syn| syn.seq + 1)
    };
    // The peer resets it, the listener is closed, the peer falls silent.
    open(&mut peer, (1, PORT));
    peer.send(TcpControl::Rst, b"");
    peer.poll();
    peer.ack = open(&mut peer, (2, 81));
    peer.stack.close_listener(listener);
    peer.send(TcpControl::None, b"");
    assert_eq!(peer.poll()[0].control, TcpControl::Rst);
    open(&mut peer, (3, PORT));
    peer.wait(Duration::from_secs(21));
    let counters = peer.stack.counters();
    assert_eq!((counters.handshakes_failed, counters.accepted, peer.stack.connections()), (3, 0, 0));
    assert!(counters.iter().all(|(name, value)| !name.starts_with("ended") || value == 0));
}

#[test]
fn accepted_cookies_and_resets_for_nobody_are_counted() {
    let mut config = config();
    config.backlog = 0;
    let mut peer = Peer::new(config);
    peer.handshake();
    let grown = counted(&mut peer, |peer| {
        peer.ports.0 += 1;
        peer.send(TcpControl::Rst, b"");
        peer.poll();
    });
    assert_eq!(grown, [("ignored", 1)]);
    let counters = peer.stack.counters();
    assert_eq!((counters.cookies, counters.cookies_accepted, counters.accepted), (1, 1, 1));
}

fn only(stack: &Stack<Memory>) -> ConnectionInfo {
    let list: Vec<_> = stack.list().collect();
    let [info] = list[..] else { panic!("{list:?}") };
    info
}

#[test]
fn a_connection_is_described() {
    let (mut peer, id) = Peer::connected();
    assert_eq!(peer.stack.info(id), Ok(only(&peer.stack)));
    peer.send(TcpControl::Psh, &[1; 300]);
    peer.poll();
    assert_eq!(peer.stack.recv(id, &mut [0; 100]), Ok(Some(100)));
    peer.stack.send(id, &[2; 500]).unwrap();
    let sent = peer.poll()[0].clone();
    peer.segment(TcpControl::None, peer.seq, Some(sent.seq + 200), b"");
    peer.wait(Duration::from_millis(250));
    let info = only(&peer.stack);
    assert_eq!((info.id, info.local, info.peer), (id, (STACK, PORT).into(), (PEER, 40_000).into()));
    assert_eq!((info.state, info.is_closed, info.listener.is_some()), (TcpState::Established, false, true));
    assert_eq!((info.unread, info.unacknowledged, info.in_flight), (200, 300, 300));
    assert_eq!((info.bytes_received, info.bytes_acknowledged), (300, 200));
    assert_eq!((info.receive_window, info.send_window), (65_535 - 200, WINDOW.into()));
    assert_eq!((info.segment_size, info.path_mtu), (1_460, 1_500));
    assert_eq!((info.since_heard, info.since_active), (Duration::from_millis(249), Duration::from_millis(250)));
    let (deadline, how) = info.deadline.unwrap();
    assert_eq!((deadline, how), (Duration::from_secs(120) - info.since_heard, Ended::TimedOut));
    assert!(info.timer.is_some_and(|timer| timer <= Duration::from_secs(1)), "{info:?}");

    // What the program writes is no sign of the peer.
    peer.segment(TcpControl::None, peer.seq, Some(sent.seq + 500), b"");
    peer.poll();
    peer.wait(Duration::from_secs(3));
    peer.stack.send(id, b"more").unwrap();
    let info = only(&peer.stack);
    assert_eq!((info.since_heard, info.since_active), (Duration::from_secs(3), Duration::ZERO));

    peer.stack.abort(id).unwrap();
    assert!(peer.stack.info(id).is_err());
    assert_eq!(peer.stack.list().count(), 0);
}

/// RFC 7323, section 2.2.
#[test]
fn windows_are_in_bytes() {
    let mut peer = Peer::new(config());
    peer.syn_options = (Some(1_000), Some(3));
    peer.handshake();
    let info = only(&peer.stack);
    assert_eq!((info.send_window, info.segment_size), (u32::from(WINDOW) * 8, 1_000));
    peer.ports.0 += 1;
    peer.ack = None;
    peer.send(TcpControl::Syn, b"");
    peer.poll();
    let opening = peer.stack.list().find(|info| info.state == TcpState::SynReceived).unwrap();
    assert_eq!((opening.send_window, opening.in_flight), (WINDOW.into(), 1), "that of a SYN has no unit");
}

/// RFC 1191.
#[test]
fn a_shorter_path_makes_segments_shorter() {
    let (mut peer, id) = Peer::connected();
    peer.stack.send(id, &[1; 3_000]).unwrap();
    let first = peer.poll()[0].seq;
    let message = crate::undelivered::message(4, 1_420, (PORT, peer.ports.0), first);
    peer.stack.wire_mut().to_stack.push_back(other_frame(IpProtocol::Icmp, &message));
    peer.poll();
    let info = only(&peer.stack);
    assert_eq!((info.path_mtu, info.segment_size), (1_400, 1_360));
}

#[test]
fn time_waits_are_counted_while_they_last() {
    let (mut peer, id) = Peer::connected();
    peer.stack.close(id).unwrap();
    let closing = only(&peer.stack);
    assert!(closing.is_closed);
    let fin = peer.poll()[0].clone();
    peer.ack = Some(fin.seq + 1);
    peer.send(TcpControl::Fin, b"");
    peer.poll();
    assert_eq!((peer.stack.list().count(), peer.stack.time_waits()), (0, 1));
    peer.wait(Duration::from_secs(61));
    assert_eq!(peer.stack.time_waits(), 0);
}

#[test]
fn every_counter_has_a_name() {
    let names: Vec<_> = Counters::default().iter().map(|(name, _)| name).collect();
    let debug = format!("{:?}", Counters::default());
    assert!(names.iter().all(|name| debug.contains(&format!("{name}: 0"))));
    assert_eq!(names.len(), debug.matches(": 0").count());
}
