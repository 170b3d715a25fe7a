// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The checksums of IPv4, TCP and UDP (RFC 1071), eight bytes at a time.

use smoltcp::wire::IPV4_HEADER_LEN;

const TCP: u8 = 6;
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

/// Whether the sum of the TCP segment or UDP datagram in an IPv4 packet is right, whose header has so many bytes.
#[inline]
pub(crate) fn is_content_right(packet: &[u8], header_len: usize) -> bool {
    let content = &packet[header_len..];
    // RFC 768: the sender has computed none.
    let is_absent = packet[9] == UDP && content.get(UDP_AT..UDP_AT + 2) == Some(&[0, 0]);
    is_absent || fold(sum(content, pseudo_header(packet, content.len()))) == u16::MAX
}

/// Writes the sums of an IPv4 packet without options, and of the TCP segment or UDP datagram in it.
#[inline]
pub(crate) fn write(packet: &mut [u8]) {
    if packet.len() < IPV4_HEADER_LEN {
        return;
    }
    let place = match packet[9] {
        TCP => Some(TCP_AT),
        UDP => Some(UDP_AT),
        _ => None,
    };
    if let Some(at) = place.map(|at| IPV4_HEADER_LEN + at).filter(|at| packet.len() >= at + 2) {
        packet[at..at + 2].fill(0);
        let content = &packet[IPV4_HEADER_LEN..];
        let sum = !fold(sum(content, pseudo_header(packet, content.len())));
        // A datagram's sum of 0 is written as its other form, since 0 means none.
        let sum = if sum == 0 && packet[9] == UDP { u16::MAX } else { sum };
        packet[at..at + 2].copy_from_slice(&sum.to_ne_bytes());
    }
    packet[IPV4_AT..IPV4_AT + 2].fill(0);
    let sum = !fold(sum(&packet[..IPV4_HEADER_LEN], 0));
    packet[IPV4_AT..IPV4_AT + 2].copy_from_slice(&sum.to_ne_bytes());
}

/// The sum of the pseudo-header of TCP and UDP: addresses, protocol, length.
fn pseudo_header(packet: &[u8], len: usize) -> u64 {
    let rest = u32::from(u16::from(packet[9]).to_be()) + u32::from((len as u16).to_be());
    sum(&packet[12..IPV4_HEADER_LEN], u64::from(rest))
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
    use smoltcp::wire::{IpAddress, IpProtocol, Ipv4Address, Ipv4Packet, Ipv4Repr, UdpPacket, UdpRepr};

    /// A UDP packet whose sums smoltcp has computed.
    fn packet(payload: &[u8]) -> Vec<u8> {
        let (from, to) = (Ipv4Address::new(192, 0, 2, 255), Ipv4Address::new(255, 254, 253, 252));
        let udp = UdpRepr { src_port: 65_535, dst_port: 1 };
        let ip = Ipv4Repr {
            src_addr: from,
            dst_addr: to,
            next_header: IpProtocol::Udp,
            payload_len: 8 + payload.len(),
            hop_limit: 64,
        };
        let mut bytes = vec![0; 28 + payload.len()];
        let checksums = ChecksumCapabilities::default();
        ip.emit(&mut Ipv4Packet::new_unchecked(&mut bytes[..]), &checksums);
        let (from, to) = (IpAddress::Ipv4(from), IpAddress::Ipv4(to));
        let mut datagram = UdpPacket::new_unchecked(&mut bytes[20..]);
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
            write(&mut ours);
            assert_eq!(ours, right, "{len}");
        }
    }

    /// Carries out of every part of the sum.
    #[test]
    fn the_largest_sums_are_right() {
        for byte in [0, 0xff] {
            let right = packet(&[byte; 1_472]);
            let mut ours = right.clone();
            write(&mut ours);
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
        write(&mut zero);
        assert_eq!(zero[26..28], [0xff, 0xff]);
        assert!(is_content_right(&zero, 20));
    }

    #[test]
    fn short_packets_are_left_alone() {
        for len in 0..20 {
            let mut bytes = vec![7; len];
            write(&mut bytes);
            assert_eq!(bytes, vec![7; len]);
        }
    }
}
