// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the stack says by `tracing`.

use crate::hosts::other_frame;
use crate::peer::{PORT, Peer, config, events, peer_socket};
use core::fmt;
use core::time::Duration;
use smoltcp::wire::{IpProtocol, TcpControl};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Keeps what it is told, a line for each event.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Subscriber for Lines {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("dpdk_sockets")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(event.metadata().level().to_string());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0 += &match field.name() {
            "message" => format!(" {value:?}"),
            name => format!(" {name}={value:?}"),
        };
    }
}

/// What was said meanwhile.
fn told(during: impl FnOnce()) -> Vec<String> {
    let lines = Lines::default();
    tracing::subscriber::with_default(lines.clone(), during);
    core::mem::take(&mut *lines.0.lock().unwrap())
}

#[test]
fn connections_are_told_of_and_segments_are_not() {
    let lines = told(|| {
        let (mut peer, id) = Peer::connected();
        for _ in 0..10 {
            peer.send(TcpControl::Psh, b"request");
            peer.poll();
            peer.stack.recv(id, &mut [0; 9]).unwrap();
        }
        peer.send(TcpControl::Rst, b"");
        peer.poll();
        let id = peer.stack.connect(peer_socket(443)).unwrap();
        let [syn] = &peer.poll()[..] else { panic!("no SYN") };
        peer.ports = (443, 1);
        peer.ports.1 = syn.ports.0;
        peer.ack = Some(syn.seq + 1);
        peer.send(TcpControl::Syn, b"");
        peer.poll();
        peer.stack.abort(id).unwrap();
    });
    let local = lines.last().unwrap().split_once("local=192.0.2.1:").unwrap().1.split_once(' ').unwrap().0;
    assert_eq!(
        lines,
        [
            "DEBUG connection accepted local=192.0.2.1:80 peer=192.0.2.2:40000",
            "DEBUG connection ended local=192.0.2.1:80 peer=192.0.2.2:40000 how=Reset",
            &format!("DEBUG connection established local=192.0.2.1:{local} peer=192.0.2.2:443"),
            &format!("DEBUG connection ended local=192.0.2.1:{local} peer=192.0.2.2:443 how=Reset"),
        ]
    );
}

/// A flood of handshakes is not one of lines.
#[test]
fn limits_are_told_of_when_they_are_reached() {
    let lines = told(|| {
        let mut config = config();
        (config.backlog, config.connections) = (2, 3);
        let mut peer = Peer::new(config);
        let flood = |peer: &mut Peer, ports: core::ops::Range<u16>| {
            for port in ports {
                (peer.ports.0, peer.ack) = (port, None);
                peer.send(TcpControl::Syn, b"");
                peer.poll();
            }
        };
        flood(&mut peer, 1..10);
        // They fall silent, and others come.
        peer.wait(Duration::from_secs(30));
        for port in 10..13 {
            peer.ports.0 = port;
            peer.handshake();
        }
        events(&mut peer.stack);
        flood(&mut peer, 13..20);
    });
    let lines: Vec<_> = lines.iter().filter(|line| line.starts_with("INFO")).collect();
    assert_eq!(
        lines,
        [
            "INFO too many incomplete handshakes: SYNs are answered by cookies port=80 backlog=2",
            "INFO too many connections: handshakes are ignored connections=3 overflows=1",
        ]
    );
}

#[test]
fn hosts_that_are_not_there_and_short_paths_are_told_of() {
    let lines = told(|| {
        let (mut peer, id) = Peer::connected();
        peer.stack.send(id, &[1; 3_000]).unwrap();
        let first = peer.poll()[0].seq;
        let message = crate::undelivered::message(4, 1_420, (PORT, peer.ports.0), first);
        peer.stack.wire_mut().to_stack.push_back(other_frame(IpProtocol::Icmp, &message));
        peer.poll();
        peer.has_arp = false;
        peer.stack.connect(([192, 0, 2, 9], 80).into()).unwrap();
        peer.wait(Duration::from_secs(4));
    });
    let lines: Vec<_> = lines.iter().filter(|line| line.starts_with("INFO")).collect();
    let told = [
        "INFO packets to this host become shorter peer=192.0.2.2 mtu=1400",
        "INFO no answer to ARP or neighbor discovery host=192.0.2.9",
    ];
    assert_eq!(lines, told);
}
