// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A flood of SYNs from addresses that did not send them: 1,000,000 in a second of the test's clock. It lasts for 20 ms, or for
//! as many seconds as `DPDK_SOCKETS_FLOOD` says. Meanwhile a peer sends requests, each by a connection of its own.

use crate::peer::{Got, PEER, Peer, config, events, frame};
use core::net::Ipv4Addr;
use core::time::Duration;
use dpdk_sockets::{Event, Route};
use smoltcp::wire::{EthernetFrame, EthernetProtocol, TcpControl, TcpRepr, TcpSeqNumber};
use std::time::Instant;
use std::{env, fs};

const MILLISECOND: Duration = Duration::from_millis(1);
const RATE: u32 = 1_000;
/// Handshakes that come to nothing make room for others during the flood.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_millis(900);
/// Fewer than there are requests, so that the oldest are forgotten.
const TIME_WAITS: usize = 4;
/// Each one of so many SYNs comes from the stack's own network, from a host that does not answer to ARP.
const NEAR: u32 = 16;
const REQUEST: &[u8] = b"request";
const ANSWER: &[u8] = b"answer";

/// A SYN. Each number has another address or port.
fn syn(number: u32) -> Vec<u8> {
    let (address, turn) = if number.is_multiple_of(NEAR) {
        let place = number / NEAR;
        (Ipv4Addr::new(192, 0, 2, 3 + (place % 250) as u8), place / 250)
    } else {
        // An odd factor: all addresses have their turn.
        let [_, a, b, c] = number.wrapping_mul(0x009e_3779).to_be_bytes();
        (Ipv4Addr::new(10, a, b, c), number >> 24)
    };
    let tcp = TcpRepr {
        src_port: 1_024 + turn as u16,
        dst_port: crate::peer::PORT,
        control: TcpControl::Syn,
        seq_number: TcpSeqNumber(number.wrapping_mul(0x9e37_79b1).cast_signed()),
        ack_number: None,
        window_len: 65_535,
        window_scale: Some(7),
        max_seg_size: Some(1_460),
        sack_permitted: true,
        sack_ranges: [None; 3],
        timestamp: None,
        payload: &[],
    };
    frame(address, &tcp)
}

struct Flood {
    peer: Peer,
    /// SYNs in a millisecond.
    rate: u32,
    syns: u32,
    requests: u32,
    most_connections: usize,
}

impl Flood {
    /// A millisecond, with what the peer has sent somewhere among the SYNs. Returns what the peer gets.
    fn step(&mut self) -> Vec<Got> {
        let own: Vec<_> = self.peer.stack.wire_mut().to_stack.drain(..).collect();
        let place = self.syns.wrapping_mul(0x9e37_79b1) % (self.rate + 1);
        let (before, after) = (self.syns..self.syns + place, self.syns + place..self.syns + self.rate);
        self.peer.stack.wire_mut().to_stack.extend(before.map(syn).chain(own).chain(after.map(syn)));
        self.syns += self.rate;
        self.peer.stack.wire_mut().now += MILLISECOND;
        let mut got = Vec::new();
        // What a poll receives is answered by the next one.
        let mut quiet_polls = 0;
        while quiet_polls < 2 {
            self.peer.stack.poll();
            self.serve();
            let wire = self.peer.stack.wire();
            quiet_polls = if wire.from_stack.is_empty() && wire.to_stack.is_empty() { quiet_polls + 1 } else { 0 };
            got.append(&mut self.for_peer());
        }
        self.most_connections = self.most_connections.max(self.peer.stack.connections());
        got
    }

    /// The program: it answers a request, and closes.
    fn serve(&mut self) {
        for event in events(&mut self.peer.stack) {
            match event {
                Event::Accepted(..) => (),
                Event::Readable(id) => {
                    let mut bytes = [0; 100];
                    assert_eq!(self.peer.stack.recv(id, &mut bytes), Ok(Some(REQUEST.len())));
                    assert_eq!(self.peer.stack.send(id, ANSWER), Ok(ANSWER.len()));
                    self.peer.stack.close(id).unwrap();
                }
                other => panic!("{other:?} after {} requests", self.requests),
            }
        }
    }

    /// What is for the peer. It is the gateway to the addresses of the flood too, but they do not answer.
    fn for_peer(&mut self) -> Vec<Got> {
        let frames: Vec<_> = self.peer.stack.wire_mut().from_stack.drain(..).collect();
        let mut got = Vec::new();
        for bytes in frames {
            let frame = EthernetFrame::new_checked(&bytes[..]).unwrap();
            // Of an ARP packet, the address that is asked for.
            let place = if frame.ethertype() == EthernetProtocol::Arp { 24 } else { 16 };
            if frame.payload()[place..place + 4] == PEER.octets() {
                got.extend(self.peer.receive(&bytes));
            }
        }
        got
    }

    /// A connection, a request, and its answer.
    fn request(&mut self) {
        self.requests += 1;
        let peer = &mut self.peer;
        (peer.ports.0, peer.ack) = (20_000 + (self.requests % 40_000) as u16, None);
        peer.send(TcpControl::Syn, b"");
        let [syn] = &self.step()[..] else { panic!("no SYN-ACK for connection {}", self.requests) };
        assert_eq!((syn.control, syn.ack), (TcpControl::Syn, Some(self.peer.seq)));
        self.peer.ack = Some(syn.seq + 1);
        self.peer.send(TcpControl::Psh, REQUEST);
        let got = self.step();
        let data: Vec<_> = got.iter().flat_map(|got| got.data.clone()).collect();
        assert_eq!(data, ANSWER, "connection {}: {got:?}", self.requests);
        let fin = got.last().unwrap();
        assert_eq!(fin.control, TcpControl::Fin);
        self.peer.ack = Some(fin.seq + fin.data.len() + 1);
        self.peer.send(TcpControl::Fin, b"");
        let [ack] = &self.step()[..] else { panic!("no ACK of the FIN of connection {}", self.requests) };
        assert_eq!(ack.ack, Some(self.peer.seq));
    }
}

/// How much memory the process has.
fn memory() -> String {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    status.lines().filter(|line| line.starts_with("VmRSS")).collect()
}

#[test]
#[allow(clippy::print_stdout, reason = "for those who ask for more seconds")]
fn every_request_is_answered_during_a_flood() {
    let seconds: f64 = env::var("DPDK_SOCKETS_FLOOD").map_or(0.02, |number| number.parse().unwrap());
    let mut config = config();
    config.routes.push(Route::default_via(PEER.into()));
    (config.handshake_timeout, config.time_waits) = (HANDSHAKE_TIMEOUT, TIME_WAITS);
    let (backlog, patience) = (config.backlog, config.handshake_timeout);
    let mut flood = Flood { peer: Peer::new(config), rate: 0, syns: 0, requests: 0, most_connections: 0 };
    // The stack learns the peer's MAC address.
    flood.request();
    flood.rate = RATE;
    let start = Instant::now();
    let mut reported = Duration::ZERO;
    while flood.peer.stack.wire().now < Duration::from_secs_f64(seconds) {
        flood.request();
        assert!(flood.peer.stack.time_waits() <= TIME_WAITS);
        let now = flood.peer.stack.wire().now;
        if now >= reported + Duration::from_secs(1) {
            reported = now;
            println!("{} SYNs and {} requests in {:?}: {}", flood.syns, flood.requests, start.elapsed(), memory());
        }
    }
    println!("{} SYNs and {} requests in {:?}: {}", flood.syns, flood.requests, start.elapsed(), memory());
    // One that is open, and those whose handshake is not complete.
    assert!((backlog..=backlog + 1).contains(&flood.most_connections), "{}", flood.most_connections);

    let Flood { peer, syns, requests, .. } = &mut flood;
    assert_eq!(peer.stack.time_waits(), TIME_WAITS);
    // Nothing is left when its time is over.
    peer.stack.wire_mut().now += patience + Duration::from_secs(61);
    for _ in 0..3 {
        peer.stack.poll();
    }
    assert_eq!((peer.stack.connections(), peer.stack.time_waits(), events(&mut peer.stack)), (0, 0, vec![]));
    let counters = peer.stack.counters();
    let requests = u64::from(*requests);
    assert_eq!([counters.accepted, counters.ended_closed], [requests; 2], "{counters:?}");
    // Each SYN was answered in one of two ways.
    let answered = counters.cookies - counters.cookies_accepted + counters.accepted + counters.handshakes_failed;
    assert_eq!(answered, u64::from(*syns) + requests, "{counters:?}");
    assert!(counters.handshakes_failed >= backlog as u64, "{counters:?}");
    let lost = [counters.dropped, counters.overflows, counters.ignored, counters.refused, counters.damaged];
    assert_eq!(lost, [0; 5], "{counters:?}");
}
