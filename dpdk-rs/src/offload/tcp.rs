// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The headers of a TCP segment in a frame, and checksums over several mbufs.

use super::error::SegmentationError;
use crate::{
    Packet, PrivateData,
    fragment::{
        HeaderError,
        header::{self, number},
    },
};

/// The length of a TCP header without options.
const TCP: usize = 20;

/// The protocol number of TCP in an IPv4 header.
const PROTOCOL: u8 = 6;

/// The offsets of the flags and the checksum in a TCP header.
pub(super) const FLAGS: usize = 13;
const CHECKSUM: usize = 16;

/// A TCP segment in IPv4. Lengths are in bytes, and were compared with the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tcp {
    /// The length of the link header.
    pub(super) l2_len: usize,
    /// The length of the IPv4 header.
    pub(super) l3_len: usize,
    /// The length of the TCP header.
    pub(super) l4_len: usize,
    /// The length of the IPv4 packet.
    pub(super) packet_len: usize,
    /// The flags of the TCP header, from FIN to CWR.
    pub(super) flags: u8,
}

impl Tcp {
    /// Parses the first segment of a frame of `frame_len` bytes. Bytes may follow the IPv4 packet.
    pub(super) fn new(segment: &[u8], frame_len: usize, l2_len: usize) -> Result<Self, SegmentationError> {
        let ip = header::ipv4(segment, l2_len)?;
        if l2_len + ip.len > frame_len {
            return Err(HeaderError::Length { said: ip.len, found: frame_len.saturating_sub(l2_len) }.into());
        }
        if ip.is_fragment() {
            return Err(SegmentationError::Fragment);
        }
        let protocol = segment.get(l2_len + 9).copied().unwrap_or_default();
        if protocol != PROTOCOL {
            return Err(SegmentationError::Protocol(protocol));
        }
        let l4 = l2_len + ip.header_len;
        let short = |needed| HeaderError::Short { needed, len: segment.len() };
        let tcp = segment.get(l4..).filter(|tcp| tcp.len() >= TCP).ok_or(short(l4 + TCP))?;
        let l4_len = usize::from(tcp.get(12).map_or(0, |byte| byte >> 4)) * 4;
        if l4_len < TCP || ip.header_len + l4_len > ip.len {
            return Err(SegmentationError::TcpHeader { header: l4_len, room: ip.payload() });
        }
        if tcp.len() < l4_len {
            return Err(short(l4 + l4_len).into());
        }
        let flags = tcp.get(FLAGS).copied().unwrap_or_default();
        Ok(Self { l2_len, l3_len: ip.header_len, l4_len, packet_len: ip.len, flags })
    }

    /// The length of all headers.
    pub(super) const fn headers(self) -> usize {
        self.l2_len + self.l3_len + self.l4_len
    }

    /// The length of the data after the headers.
    pub(super) const fn payload(self) -> usize {
        self.packet_len - self.l3_len - self.l4_len
    }

    /// Whether the checksum of the IPv4 header is correct.
    pub(super) fn has_right_ip_checksum<P: PrivateData>(self, packet: &Packet<P>) -> bool {
        packet.data().get(self.l2_len..self.l2_len + self.l3_len).is_some_and(|ip| header::checksum(ip) == 0)
    }

    /// Whether the checksum of the TCP segment is correct.
    pub(super) fn has_right_checksum<P: PrivateData>(self, packet: &Packet<P>) -> bool {
        self.checksum(packet) == 0
    }

    /// The checksum of the TCP segment with its pseudo header; 0 if the checksum in the header is correct.
    fn checksum<P: PrivateData>(self, packet: &Packet<P>) -> u16 {
        let mut sum = Sum::default();
        sum.add(packet.data().get(self.l2_len + 12..self.l2_len + 20).unwrap_or_default());
        let len = self.packet_len - self.l3_len;
        // `header::ipv4` has read it from 16 bits.
        sum.add(&[0, PROTOCOL]);
        sum.add(&(len as u16).to_be_bytes());
        let (mut front, mut rest) = (self.l2_len + self.l3_len, len);
        for segment in packet.segments() {
            let skipped = front.min(segment.len());
            let bytes = segment.split_at(skipped).1;
            let bytes = bytes.split_at(rest.min(bytes.len())).0;
            sum.add(bytes);
            front -= skipped;
            rest -= bytes.len();
        }
        sum.finish()
    }

    /// Writes the checksums of both headers, which are in the first segment. The packet must own the data there alone.
    pub(super) fn write_checksums<P: PrivateData>(self, packet: &mut Packet<P>) {
        let at = self.l2_len + self.l3_len + CHECKSUM;
        let Ok(data) = packet.data_mut() else { return };
        header::write_checksum(data.get_mut(self.l2_len..self.l2_len + self.l3_len).unwrap_or_default());
        if let Some(place) = data.get_mut(at..at + 2) {
            place.fill(0);
        }
        let sum = self.checksum(packet);
        if let Some(place) = packet.data_mut().ok().and_then(|data| data.get_mut(at..at + 2)) {
            place.copy_from_slice(&sum.to_be_bytes());
        }
    }
}

/// The sum of RFC 1071 over pieces of any length. DPDK's own function for several mbufs is wrong in 22.11 after an odd
/// number of bytes.
#[derive(Default)]
struct Sum {
    sum: u64,
    odd: bool,
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        let pairs = bytes.chunks_exact(2);
        let last = pairs.remainder().first().map_or(0, |byte| u64::from(*byte) << 8);
        let sum = fold(pairs.map(|pair| number(pair, 0) as u64).sum::<u64>() + last);
        // A piece at an odd offset has its bytes swapped.
        self.sum += u64::from(if self.odd { sum.swap_bytes() } else { sum });
        self.odd ^= !bytes.len().is_multiple_of(2);
    }

    fn finish(&self) -> u16 {
        !fold(self.sum)
    }
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::{FLAGS, Sum, Tcp};
    use crate::{fragment::HeaderError, offload::SegmentationError};

    /// Ethernet, IPv4 with 4 bytes of options, and TCP with 4 bytes of options and 3 bytes of data.
    fn frame() -> Vec<u8> {
        let mut frame = vec![0; 14 + 24 + 24 + 3];
        frame[14] = 0x46;
        frame[17] = 51;
        frame[23] = 6;
        frame[14 + 24 + 12] = 0x60;
        frame[14 + 24 + FLAGS] = 0x10;
        frame
    }

    fn changed(at: usize, byte: u8) -> Result<Tcp, SegmentationError> {
        let mut frame = frame();
        frame[at] = byte;
        Tcp::new(&frame, frame.len(), 14)
    }

    #[test]
    fn headers_are_compared_with_the_frame() {
        let tcp = Tcp { l2_len: 14, l3_len: 24, l4_len: 24, packet_len: 51, flags: 0x10 };
        assert_eq!(changed(0, 0), Ok(tcp));
        assert_eq!((tcp.headers(), tcp.payload()), (62, 3));
        assert_eq!(changed(17, 52), Err(HeaderError::Length { said: 52, found: 51 }.into()));
        assert_eq!(changed(17, 48), Ok(Tcp { packet_len: 48, ..tcp }));
        assert_eq!(changed(17, 47), Err(SegmentationError::TcpHeader { header: 24, room: 23 }));
        assert_eq!(changed(14, 0x41), Err(HeaderError::HeaderLength { header: 4, packet: 51 }.into()));
        assert_eq!(changed(20, 0x20), Err(SegmentationError::Fragment));
        assert_eq!(changed(21, 1), Err(SegmentationError::Fragment));
        assert_eq!(changed(23, 17), Err(SegmentationError::Protocol(17)));
        assert_eq!(changed(50, 0x40), Err(SegmentationError::TcpHeader { header: 16, room: 27 }));
        assert_eq!(changed(50, 0x70), Err(SegmentationError::TcpHeader { header: 28, room: 27 }));
        // The frame has all bytes, but the first segment has not.
        for (len, needed) in [(57, 58), (61, 62)] {
            let error = Tcp::new(&frame()[..len], 65, 14);
            assert_eq!(error, Err(HeaderError::Short { needed, len }.into()));
        }
    }

    /// Every pair of header lengths, and every length of the packet, the frame and its first segment up to the longest
    /// headers.
    #[test]
    fn every_tcp_header_lies_in_its_packet() {
        let mut good = 0;
        for (ihl, words) in (0..16_u8).flat_map(|ihl| (0..16_u8).map(move |words| (ihl, words))) {
            let (l3, l4) = (usize::from(ihl) * 4, usize::from(words) * 4);
            for (packet, held) in
                (0..=124).step_by(2).flat_map(|packet| (0..=124).step_by(2).map(move |held| (packet, held)))
            {
                let mut frame = [0_u8; 128];
                (frame[0], frame[3], frame[9]) = (0x40 | ihl, packet as u8, 6);
                if let Some(byte) = frame.get_mut(l3 + 12).filter(|_| l3 >= 20) {
                    *byte = words << 4;
                }
                for len in [held, held + 4] {
                    let found = Tcp::new(&frame[..held], len, 0);
                    let fits = l3 >= 20 && l4 >= 20 && l3 + l4 <= packet && packet <= len && l3 + l4 <= held;
                    assert_eq!(found.is_ok(), fits, "{l3} {l4} {packet} {held} {len}");
                    if let Ok(tcp) = found {
                        assert_eq!((tcp.headers(), tcp.payload()), (l3 + l4, packet - l3 - l4));
                        good += 1;
                    }
                }
            }
        }
        assert!(good > 1000, "{good} good headers");
    }

    #[test]
    fn a_sum_does_not_depend_on_its_pieces() {
        let bytes: Vec<u8> = (0..=255).map(|byte: u8| byte.wrapping_mul(167)).collect();
        let whole = |pieces: &[usize]| {
            let (mut sum, mut rest) = (Sum::default(), &bytes[..]);
            for len in pieces {
                let (piece, behind) = rest.split_at(*len);
                sum.add(piece);
                rest = behind;
            }
            sum.add(rest);
            sum.finish()
        };
        let expected = crate::fragment::header::checksum(&bytes);
        for pieces in [&[][..], &[1], &[1, 1], &[3, 0, 4], &[255], &[1, 254], &[7, 7, 7, 7, 7]] {
            assert_eq!(whole(pieces), expected, "{pieces:?}");
        }
    }
}
