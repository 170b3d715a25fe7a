// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Frames for the stack: right ones, and what can be made of them.

use core::net::Ipv4Addr;
use dpdk_rs_fuzz::Reader;
use smoltcp::wire::{IpProtocol, Ipv4Packet, TcpPacket, UdpPacket};

pub(crate) const STACK: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
pub(crate) const PEER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
pub(crate) const STACK_MAC: [u8; 6] = [2, 0, 0, 0, 0, 1];
const PEER_MAC: [u8; 6] = [2, 0, 0, 0, 0, 2];

const ETHERNET_LEN: usize = 14;

pub(crate) const FIN: u8 = 1;
pub(crate) const SYN: u8 = 2;
pub(crate) const RST: u8 = 4;
pub(crate) const ACK: u8 = 16;

/// A segment of a peer.
#[derive(Debug)]
pub(crate) struct Segment<'a> {
    /// The peer's port and the stack's.
    pub(crate) ports: (u16, u16),
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) flags: u8,
    pub(crate) window: u16,
    pub(crate) urgent: u16,
    /// At most 40 bytes.
    pub(crate) options: &'a [u8],
    pub(crate) text: &'a [u8],
}

impl Segment<'_> {
    pub(crate) fn frame(&self) -> Vec<u8> {
        let len = 20 + self.options.len().next_multiple_of(4);
        let mut tcp = Vec::with_capacity(len + self.text.len());
        tcp.extend(self.ports.0.to_be_bytes());
        tcp.extend(self.ports.1.to_be_bytes());
        tcp.extend(self.seq.to_be_bytes());
        tcp.extend(self.ack.to_be_bytes());
        tcp.extend([(len / 4 * 16) as u8, self.flags]);
        tcp.extend(self.window.to_be_bytes());
        tcp.extend([0, 0]);
        tcp.extend(self.urgent.to_be_bytes());
        tcp.extend(self.options);
        tcp.resize(len, 0);
        tcp.extend(self.text);
        packet(6, &[], &tcp)
    }
}

/// A frame with an IPv4 packet, whose options have at most 40 bytes. Its sums are right.
pub(crate) fn packet(protocol: u8, options: &[u8], content: &[u8]) -> Vec<u8> {
    let header_len = 20 + options.len().next_multiple_of(4);
    let mut frame = [STACK_MAC, PEER_MAC].concat();
    frame.extend([8, 0, 0x40 + (header_len / 4) as u8, 0, 0, 0, 0, 7, 0x40, 0, 64, protocol, 0, 0]);
    frame.extend(PEER.octets());
    frame.extend(STACK.octets());
    frame.extend(options);
    frame.resize(ETHERNET_LEN + header_len, 0);
    frame.extend(content);
    let len = (frame.len() - ETHERNET_LEN) as u16;
    Ipv4Packet::new_unchecked(frame.split_at_mut(ETHERNET_LEN).1).set_total_len(len);
    seal(&mut frame);
    frame
}

/// An ARP packet of this operation for an address.
pub(crate) fn arp(operation: u8, address: Ipv4Addr) -> Vec<u8> {
    let mut frame = [STACK_MAC, PEER_MAC].concat();
    frame.extend([8, 6, 0, 1, 8, 0, 6, 4, 0, operation]);
    frame.extend(PEER_MAC);
    frame.extend(address.octets());
    frame.extend(STACK_MAC);
    frame.extend(STACK.octets());
    frame
}

/// Changes up to eight bytes of a frame, its length, or both. The sums may be right again.
pub(crate) fn mutate(reader: &mut Reader<'_>, frame: &mut Vec<u8>) {
    let how = reader.byte();
    for _ in 0..how & 7 {
        let at = reader.below(80);
        let value = reader.byte();
        if let Some(byte) = frame.get_mut(at) {
            *byte = value;
        }
    }
    if how & 8 != 0 {
        frame.truncate(reader.below(80));
    }
    if how & 16 != 0 {
        frame.resize(frame.len() + reader.below(60), reader.byte());
    }
    if how & 32 != 0 {
        seal(frame);
    }
}

/// Writes the sums of IPv4, TCP and UDP, where the lengths allow it.
fn seal(frame: &mut [u8]) {
    let Some(bytes) = frame.get_mut(ETHERNET_LEN..) else { return };
    if Ipv4Packet::new_checked(&*bytes).is_err() {
        return;
    }
    let mut ip = Ipv4Packet::new_unchecked(bytes);
    if ip.header_len() >= 20 {
        ip.fill_checksum();
    }
    let (from, to, protocol) = (ip.src_addr().into(), ip.dst_addr().into(), ip.next_header());
    let content = ip.payload_mut();
    match protocol {
        IpProtocol::Tcp if TcpPacket::new_checked(&*content).is_ok() => {
            TcpPacket::new_unchecked(content).fill_checksum(&from, &to);
        }
        IpProtocol::Udp if UdpPacket::new_checked(&*content).is_ok() => {
            UdpPacket::new_unchecked(content).fill_checksum(&from, &to);
        }
        IpProtocol::Icmp if content.len() >= 8 => {
            smoltcp::wire::Icmpv4Packet::new_unchecked(content).fill_checksum();
        }
        _ => (),
    }
}
