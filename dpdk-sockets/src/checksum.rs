// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The checksums of IPv4, TCP and UDP (RFC 1071), eight bytes at a time.

use crate::ip::{self, is_ipv6};
use crate::wire::Checksums;
use smoltcp::wire::{IPV4_HEADER_LEN, IPV6_HEADER_LEN, IpProtocol};

const UDP: u8 = 17;

/// Where the sums are: in the header of IPv4, TCP and UDP.
const IPV4_AT: usize = 10;
const TCP_AT: usize = 16;
const UDP_AT: usize = 6;

/// Whether the sum of an IPv4 header is right.
#[inline]
pub(crate) fn is_header_right(header: &[u8]) -> bool {
    fold(sum(header, 0)) == u16::MAX
}

/// Whether the sum of the TCP segment or UDP datagram in an IP packet is right, whose header has so many bytes. An IPv6 packet
/// has no extension headers.
#[inline]
pub(crate) fn is_content_right(packet: &[u8], header_len: usize) -> bool {
    let content = &packet[header_len..];
    // RFC 768: the sender has computed none. In IPv6 it has to (RFC 8200, section 8.1).
    let is_absent = !is_ipv6(packet) && packet[9] == UDP && content.get(UDP_AT..UDP_AT + 2) == Some(&[0, 0]);
    is_absent || fold(sum(content, pseudo_header(packet, content.len()))) == u16::MAX
}

/// Writes the sums of an IP packet without options and extension headers, and of the TCP segment or UDP datagram in it, but not
/// what the device writes.
#[inline]
pub(crate) fn write(packet: &mut [u8], by_device: Checksums) {
    if by_device.ip && by_device.l4 {
        return;
    }
    let Some((header_len, protocol)) = ip::header(packet) else { return };
    let place = match protocol {
        _ if by_device.l4 => None,
        IpProtocol::Tcp => Some(TCP_AT),
        IpProtocol::Udp => Some(UDP_AT),
        _ => None,
    };
    if let Some(at) = place.map(|at| header_len + at).filter(|at| packet.len() >= at + 2) {
        packet[at..at + 2].fill(0);
        let content = &packet[header_len..];
        let sum = !fold(sum(content, pseudo_header(packet, content.len())));
        // A datagram's sum of 0 is written as its other form, since 0 means none.
        let sum = if sum == 0 && protocol == IpProtocol::Udp { u16::MAX } else { sum };
        packet[at..at + 2].copy_from_slice(&sum.to_ne_bytes());
    }
    if !by_device.ip && !is_ipv6(packet) {
        packet[IPV4_AT..IPV4_AT + 2].fill(0);
        let sum = !fold(sum(&packet[..IPV4_HEADER_LEN], 0));
        packet[IPV4_AT..IPV4_AT + 2].copy_from_slice(&sum.to_ne_bytes());
    }
}

/// The sum of the pseudo-header of TCP and UDP: addresses, protocol, length (RFC 9293, section 3.1; RFC 8200, section 8.1).
fn pseudo_header(packet: &[u8], len: usize) -> u64 {
    let (addresses, protocol) = if is_ipv6(packet) {
        (&packet[8..IPV6_HEADER_LEN], packet[6])
    } else {
        (&packet[12..IPV4_HEADER_LEN], packet[9])
    };
    let rest = u32::from(u16::from(protocol).to_be()) + u32::from((len as u16).to_be());
    sum(addresses, u64::from(rest))
}

/// Adds bytes to a sum of words in the machine's order: the order does not matter until the end (RFC 1071, section 2).
#[inline]
fn sum(bytes: &[u8], before: u64) -> u64 {
    let mut sum = before;
    let mut add = |word: u64| {
        let (added, carry) = sum.overflowing_add(word);
        sum = added + u64::from(carry);
    };
    let (chunks, rest) = bytes.as_chunks();
    for chunk in chunks {
        add(u64::from_ne_bytes(*chunk));
    }
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    add(u64::from_ne_bytes(last));
    sum
}

/// The sum in 16 bits, in the machine's order.
#[inline]
fn fold(sum: u64) -> u16 {
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use smoltcp::phy::ChecksumCapabilities;
    use smoltcp::wire::{IpAddress, IpRepr, UdpPacket, UdpRepr};

    fn write_all(packet: &mut [u8]) {
        write(packet, Checksums::default());
    }

    /// A UDP packet of IPv4 whose sums smoltcp has computed.
    fn packet(payload: &[u8]) -> Vec<u8> {
        packet_between(IpAddress::v4(192, 0, 2, 255), IpAddress::v4(255, 254, 253, 252), payload)
    }

    fn packet_between(from: IpAddress, to: IpAddress, payload: &[u8]) -> Vec<u8> {
        let udp = UdpRepr { src_port: 65_535, dst_port: 1 };
        let ip = IpRepr::new(from, to, IpProtocol::Udp, 8 + payload.len(), 64);
        let mut bytes = vec![0; ip.buffer_len()];
        let checksums = ChecksumCapabilities::default();
        ip.emit(&mut bytes[..], &checksums);
        let mut datagram = UdpPacket::new_unchecked(&mut bytes[ip.header_len()..]);
        udp.emit(&mut datagram, &from, &to, payload.len(), |bytes| bytes.copy_from_slice(payload), &checksums);
        bytes
    }

    #[test]
    fn sums_are_those_of_another_implementation() {
        for len in 0..300 {
            let payload: Vec<u8> = (0..len).map(|byte| (byte * 37 + len) as u8).collect();
            let right = packet(&payload);
            assert!(is_header_right(&right[..20]) && is_content_right(&right, 20), "{len}");
            let mut ours = right.clone();
            (ours[10], ours[11], ours[26], ours[27]) = (1, 2, 3, 4);
            assert!(!is_header_right(&ours[..20]) && !is_content_right(&ours, 20), "{len}");
            write_all(&mut ours);
            assert_eq!(ours, right, "{len}");
        }
    }

    #[test]
    fn sums_of_ipv6_are_those_of_another_implementation() {
        let (from, to) = (IpAddress::v6(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1), IpAddress::v6(0xfe80, 0, 0, 0, 1, 2, 3, 4));
        for len in 0..300 {
            let payload: Vec<u8> = (0..len).map(|byte| (byte * 37 + len) as u8).collect();
            let right = packet_between(from, to, &payload);
            assert!(is_content_right(&right, 40), "{len}");
            let mut ours = right.clone();
            (ours[46], ours[47]) = (2, 3);
            assert!(!is_content_right(&ours, 40), "{len}");
            write_all(&mut ours);
            assert_eq!(ours, right, "{len}");
            (ours[46], ours[47]) = (0, 0);
            assert!(!is_content_right(&ours, 40), "a sum must be there");
        }
    }

    /// Virtio writes the sums of TCP and UDP, and not that of IPv4's header.
    #[test]
    fn what_the_device_writes_is_left_as_it_is() {
        let right = packet(b"content");
        let mut wrong = right.clone();
        (wrong[10], wrong[26]) = (!right[10], !right[26]);
        for (ip, l4) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut ours = wrong.clone();
            write(&mut ours, Checksums { ip, l4 });
            assert_eq!((ours[10..12] == wrong[10..12], ours[26..28] == wrong[26..28]), (ip, l4));
            assert!((ip || is_header_right(&ours[..20])) && (l4 || is_content_right(&ours, 20)));
        }
    }

    /// Carries out of every part of the sum.
    #[test]
    fn the_largest_sums_are_right() {
        for byte in [0, 0xff] {
            let right = packet(&[byte; 1_472]);
            let mut ours = right.clone();
            write_all(&mut ours);
            assert_eq!(ours, right);
        }
    }

    #[test]
    fn a_datagram_without_a_sum_is_right_and_one_with_the_sum_0_has_the_other_form() {
        let mut absent = packet(b"none");
        absent[26..28].fill(0);
        assert!(is_content_right(&absent, 20));
        // A payload that completes the sum to 0.
        let mut zero = packet(&[0, 0]);
        let sum = [zero[26], zero[27]];
        zero[28..30].copy_from_slice(&sum);
        write_all(&mut zero);
        assert_eq!(zero[26..28], [0xff, 0xff]);
        assert!(is_content_right(&zero, 20));
    }

    #[test]
    fn short_packets_are_left_alone() {
        for (byte, headers) in [(0x47, 20), (0x67, 40)] {
            for len in 0..headers {
                let mut bytes = vec![byte; len];
                write_all(&mut bytes);
                assert_eq!(bytes, vec![byte; len]);
            }
        }
    }
}
