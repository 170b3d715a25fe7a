// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A device that cuts TCP segments into packets (TSO).

use crate::pair::{Hosts, IPV4, IPV6};
use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_sockets::wire::{Checksums, Memory, Wire};
use dpdk_sockets::{Config, Event, IpNet, Stack};
use smoltcp::wire::{Ipv4Packet, TcpPacket};

const HEADERS: usize = 14 + 20 + 20;
const BYTES: usize = 500_000;

/// It cuts packets up to a length, as [`Cutting::cut`] wants it.
struct Cutting {
    memory: Memory,
    uncut: usize,
    mtu: usize,
    /// The longest packet of the stack.
    longest: usize,
}

impl Cutting {
    fn new(uncut: usize) -> Self {
        Self { memory: Memory { offloads: true, ..Memory::default() }, uncut, mtu: 0, longest: 0 }
    }
}

impl Wire for Cutting {
    type Frame = Vec<u8>;

    fn now(&mut self) -> Duration {
        self.memory.now
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        self.memory.receive()
    }

    fn has_room(&mut self) -> bool {
        true
    }

    fn allocate(&mut self, len: usize) -> Option<Vec<u8>> {
        self.memory.allocate(len)
    }

    fn verified(&self, frame: &Vec<u8>) -> Checksums {
        self.memory.verified(frame)
    }

    fn written(&self) -> Checksums {
        self.memory.written()
    }

    fn cut(&mut self, mtu: usize) -> usize {
        self.mtu = mtu;
        self.uncut.max(mtu)
    }

    fn bytes(frame: &Vec<u8>) -> Option<&[u8]> {
        Some(frame)
    }

    fn bytes_mut(frame: &mut Vec<u8>) -> &mut [u8] {
        frame
    }

    fn send(&mut self, frame: Vec<u8>) -> bool {
        let packet = frame.len() - 14;
        self.longest = self.longest.max(packet);
        if packet <= self.mtu {
            return self.memory.send(frame);
        }
        let (headers, data) = frame.split_at(HEADERS);
        let segment = self.mtu - 40;
        for (number, piece) in data.chunks(segment).enumerate() {
            let mut bytes = [headers, piece].concat();
            let mut ip = Ipv4Packet::new_unchecked(&mut bytes[14..]);
            assert_eq!((ip.header_len(), usize::from(ip.total_len())), (20, packet));
            ip.set_total_len((40 + piece.len()) as u16);
            let mut tcp = TcpPacket::new_unchecked(ip.payload_mut());
            assert_eq!(tcp.header_len(), 20);
            tcp.set_seq_number(tcp.seq_number() + number * segment);
            // The last one has them.
            let is_last = (number + 1) * segment >= data.len();
            tcp.set_fin(tcp.fin() && is_last);
            tcp.set_psh(tcp.psh() && is_last);
            self.memory.send(bytes);
        }
        true
    }

    fn flush(&mut self) {}
}

/// A stack with such a device sends to one whose packets have at most `peer_mtu` bytes. Returns the longest packet before it was cut.
fn send(hosts: Hosts, uncut: usize, peer_mtu: usize) -> usize {
    let [mut config, mut peer_config] = [0, 1].map(|number| {
        let address: IpNet = hosts[number].parse().unwrap();
        Config::new(MacAddr([2, 0, 0, 0, 0, number as u8 + 1]), address)
    });
    config.congestion_control = None;
    peer_config.mtu = peer_mtu;
    let mut stack = Stack::new(Cutting::new(uncut), config).unwrap();
    let server = peer_config.addresses[0].addr();
    let mut peer = Stack::new(Memory { offloads: true, ..Memory::default() }, peer_config).unwrap();
    peer.listen(80).unwrap();
    let id = stack.connect((server, 80).into()).unwrap();
    let content: Vec<u8> = (0..BYTES).map(|position| (position * 7 + position / 256) as u8).collect();
    let (mut sent, mut received) = (0, Vec::<u8>::new());
    let mut is_connected = false;
    for _ in 0..100_000 {
        let now = peer.wire().now + Duration::from_micros(100);
        (peer.wire_mut().now, stack.wire_mut().memory.now) = (now, now);
        stack.poll();
        peer.wire_mut().to_stack.append(&mut stack.wire_mut().memory.from_stack);
        peer.poll();
        stack.wire_mut().memory.to_stack.append(&mut peer.wire_mut().from_stack);
        while let Some(event) = stack.next_event() {
            is_connected |= matches!(event, Event::Connected(_));
        }
        if is_connected && sent < BYTES {
            sent += stack.send(id, &content[sent..]).unwrap();
            if sent == BYTES {
                stack.shutdown(id).unwrap();
            }
        }
        while let Some(event) = peer.next_event() {
            let Event::Readable(id) = event else { continue };
            let mut bytes = [0; 16_384];
            while let Some(len) = peer.recv(id, &mut bytes).unwrap() {
                if len == 0 {
                    assert!(received == content, "other bytes than were sent");
                    assert_eq!(stack.counters().retransmits, 0);
                    return stack.wire().longest;
                }
                received.extend(&bytes[..len]);
            }
        }
    }
    panic!("{} bytes have arrived", received.len());
}

#[test]
fn long_segments_are_cut_by_the_device() {
    for (hosts, uncut, peer_mtu, longest) in [
        (IPV4, 9_000, 1_500, 9_000),
        (IPV4, 65_535, 1_500, 65_535),
        // Not longer than the device takes them.
        (IPV4, 0, 1_500, 1_500),
        (IPV4, 1_501, 1_500, 1_501),
        // The peer's packets are shorter than those into which the device cuts.
        (IPV4, 65_535, 1_400, 1_400),
        // smoltcp does that for IPv4 only.
        (IPV6, 65_535, 1_500, 1_500),
    ] {
        let most = send(hosts, uncut, peer_mtu);
        assert!(most <= longest && most > longest * 9 / 10, "{hosts:?}, {uncut}, {peer_mtu}: {most}");
    }
}
