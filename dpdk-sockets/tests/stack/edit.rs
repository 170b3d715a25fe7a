// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Changes frames of the peer after they were made: their options, and any byte. The sums are right again afterwards.

use smoltcp::wire::{Ipv4Packet, TcpPacket};

/// Where the IPv4 header begins.
const IP: usize = 14;

/// The frame with these options of TCP, filled up with zeros.
pub(crate) fn with_options(mut frame: Vec<u8>, options: &[u8]) -> Vec<u8> {
    let tcp = IP + header_len(&frame);
    let old = usize::from(frame[tcp + 12] >> 4) * 4;
    let padded = padded(options);
    frame[tcp + 12] = (5 + padded.len() as u8 / 4) << 4;
    frame.splice(tcp + 20..tcp + old, padded);
    sealed(frame)
}

/// The frame with these options of IPv4, filled up with zeros.
pub(crate) fn with_ip_options(mut frame: Vec<u8>, options: &[u8]) -> Vec<u8> {
    let padded = padded(options);
    frame[IP] = 0x45 + padded.len() as u8 / 4;
    frame.splice(IP + 20..IP + 20, padded);
    sealed(frame)
}

/// The frame after a change of its IPv4 packet without options.
pub(crate) fn changed(mut frame: Vec<u8>, change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    change(&mut frame[IP..]);
    sealed(frame)
}

/// Where the fields of TCP are in an IPv4 packet without options.
pub(crate) const FLAGS: usize = 20 + 13;
pub(crate) const URGENT_POINTER: usize = 20 + 18;

fn header_len(frame: &[u8]) -> usize {
    usize::from(frame[IP] & 15) * 4
}

fn padded(options: &[u8]) -> Vec<u8> {
    let mut padded = options.to_vec();
    padded.resize(options.len().next_multiple_of(4), 0);
    padded
}

/// The frame with its length and its sums.
fn sealed(mut frame: Vec<u8>) -> Vec<u8> {
    let len = (frame.len() - IP) as u16;
    let mut ip = Ipv4Packet::new_unchecked(&mut frame[IP..]);
    ip.set_total_len(len);
    ip.fill_checksum();
    let (from, to) = (ip.src_addr().into(), ip.dst_addr().into());
    TcpPacket::new_unchecked(ip.payload_mut()).fill_checksum(&from, &to);
    frame
}
