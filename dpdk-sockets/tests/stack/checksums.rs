// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Checksums that the stack verifies and writes, or leaves to the device. `tests/linux.rs` has a device with offloads.

use crate::peer::{PEER_MAC, Peer, arp_packet, config, events};
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{Event, Stack};
use smoltcp::wire::{ArpOperation, EthernetFrame, Ipv4Packet, TcpControl, TcpPacket};

/// Where the sums of IPv4 and TCP are in a frame.
const IP_SUM: usize = 14 + 10;
const TCP_SUM: usize = 34 + 16;

#[test]
fn damaged_segments_are_counted_and_change_nothing() {
    let (mut peer, id) = Peer::connected();
    for at in [IP_SUM, TCP_SUM, 14 + 8, 34 + 20] {
        peer.segment(TcpControl::Psh, peer.seq, peer.ack, b"data");
        let frame = peer.stack.wire_mut().to_stack.back_mut().unwrap();
        frame[at] ^= 1;
        assert_eq!(peer.poll(), []);
    }
    assert_eq!((peer.stack.counters().damaged, events(&mut peer.stack)), (4, vec![]));
    peer.send(TcpControl::Psh, b"data");
    assert_eq!(peer.poll()[0].ack, Some(peer.seq));
    assert_eq!(events(&mut peer.stack), [Event::Readable(id)]);
}

/// Of what the device has found right nothing is verified, and what it writes is left out.
#[test]
fn a_device_with_offloads_has_the_work() {
    let mut peer = Peer::new(config());
    peer.stack = Stack::new(Memory { offloads: true, ..Memory::default() }, config()).unwrap();
    peer.stack.listen(80).unwrap();
    peer.send(TcpControl::Syn, b"");
    let frame = peer.stack.wire_mut().to_stack.back_mut().unwrap();
    (frame[IP_SUM], frame[TCP_SUM]) = (1, 1);
    peer.stack.poll();
    peer.stack.poll();
    assert_eq!(peer.stack.wire_mut().from_stack.len(), 1, "ARP asks for the peer");
    peer.stack.wire_mut().from_stack.clear();
    peer.stack.wire_mut().to_stack.push_back(arp_packet(ArpOperation::Reply, peer.address));
    peer.stack.poll();
    peer.stack.poll();
    let syn_ack = peer.stack.wire_mut().from_stack.pop_front().expect("a SYN-ACK");
    let frame = EthernetFrame::new_checked(&syn_ack[..]).unwrap();
    assert_eq!(frame.dst_addr(), PEER_MAC);
    let ip = Ipv4Packet::new_checked(frame.payload()).unwrap();
    let tcp = TcpPacket::new_checked(ip.payload()).unwrap();
    assert_eq!((tcp.syn(), ip.checksum(), tcp.checksum()), (true, 0, 0));
}
