// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Builds frames from parts, from the inside out, with correct lengths and checksums. Mutants are made from them.

use crate::checksum::Sum;

/// The protocol numbers of IANA that the frames use.
pub mod protocol {
    /// IPv6: options for every hop.
    pub const HOP_BY_HOP: u8 = 0;
    /// ICMP for IPv4.
    pub const ICMP: u8 = 1;
    /// TCP.
    pub const TCP: u8 = 6;
    /// UDP.
    pub const UDP: u8 = 17;
    /// IPv6: a route.
    pub const ROUTING: u8 = 43;
    /// IPv6: a fragment.
    pub const FRAGMENT: u8 = 44;
    /// GRE, here as a protocol that no library parses.
    pub const GRE: u8 = 47;
    /// The authentication header of IPsec.
    pub const AUTHENTICATION: u8 = 51;
    /// ICMP for IPv6.
    pub const ICMPV6: u8 = 58;
    /// IPv6: options for the destination.
    pub const DESTINATION_OPTIONS: u8 = 60;
}

/// The ethertypes that the frames use.
pub mod ethertype {
    /// IPv4.
    pub const IPV4: u16 = 0x0800;
    /// IPv6.
    pub const IPV6: u16 = 0x86dd;
    /// A tag of IEEE 802.1Q.
    pub const TAG: u16 = 0x8100;
    /// A service tag of IEEE 802.1ad, in front of another.
    pub const SERVICE_TAG: u16 = 0x88a8;
}

/// The bit of [`Ipv4::fragment`] that says that more fragments follow.
pub const MORE_FRAGMENTS: u16 = 0x2000;
/// The bit of [`Ipv4::fragment`] that forbids fragments.
pub const DO_NOT_FRAGMENT: u16 = 0x4000;

/// The parts of an IPv4 packet.
#[derive(Clone, Debug)]
pub struct Ipv4 {
    /// The source address.
    pub source: [u8; 4],
    /// The destination address.
    pub destination: [u8; 4],
    /// Options, in whole 32-bit words.
    pub options: Vec<u8>,
    /// Flags and offset.
    pub fragment: u16,
    /// The protocol of the payload.
    pub protocol: u8,
}

impl Ipv4 {
    /// From one documentation address to another, no options, whole.
    pub fn new(protocol: u8) -> Self {
        Self { source: [192, 0, 2, 17], destination: [198, 51, 100, 34], options: Vec::new(), fragment: 0, protocol }
    }

    /// With options: one to be ignored, padded with no-operations.
    #[must_use]
    pub fn options(mut self, double_words: u8) -> Self {
        self.options = vec![1; usize::from(double_words) * 4];
        self
    }

    /// With flags and an offset in units of 8 bytes.
    #[must_use]
    pub fn fragment(mut self, field: u16) -> Self {
        self.fragment = field;
        self
    }

    /// The packet.
    pub fn with(&self, payload: &[u8]) -> Vec<u8> {
        let length = 20 + self.options.len();
        let total = (length + payload.len()) as u16;
        let mut packet = vec![0x40 | (length / 4) as u8, 0];
        packet.extend(total.to_be_bytes());
        packet.extend([0x12, 0x34]);
        packet.extend(self.fragment.to_be_bytes());
        packet.extend([64, self.protocol, 0, 0]);
        packet.extend(self.source);
        packet.extend(self.destination);
        packet.extend(&self.options);
        let checksum = Sum::new().bytes(&packet).checksum();
        packet[10..12].copy_from_slice(&checksum);
        packet.extend(payload);
        packet
    }

    /// A packet that holds a UDP datagram.
    pub fn with_udp(&self, data: &[u8]) -> Vec<u8> {
        let mut datagram = udp(data);
        let sum = Sum::new().bytes(&self.source).bytes(&self.destination).word([0, protocol::UDP]);
        let sum = sum.bytes(&(datagram.len() as u16).to_be_bytes()).bytes(&datagram);
        datagram[6..8].copy_from_slice(&sum.checksum_udp());
        self.with(&datagram)
    }
}

/// An IPv6 packet from one documentation address to another.
pub fn ipv6(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = vec![0x60, 0x01, 0x23, 0x45];
    packet.extend((payload.len() as u16).to_be_bytes());
    packet.extend([next_header, 64]);
    packet.extend([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    packet.extend([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0xaa, 0xbb, 0xcc, 0xdd, 0, 0, 0, 2]);
    packet.extend(payload);
    packet
}

/// Options for every hop or for the destination, one of padding, in units of 8 bytes.
pub fn options(next_header: u8, units: u8, payload: &[u8]) -> Vec<u8> {
    let padding = usize::from(units) * 8 - 4;
    let mut header = vec![next_header, units - 1, 1, padding as u8];
    header.extend(vec![0; padding]);
    [&header, payload].concat()
}

/// A routing header of type 2, with one address and nothing left to visit.
pub fn routing(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let mut header = vec![next_header, 2, 2, 0, 0, 0, 0, 0];
    header.extend([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3]);
    [&header, payload].concat()
}

/// A fragment header; the offset is in units of 8 bytes.
pub fn fragment(next_header: u8, offset: u16, more: bool, payload: &[u8]) -> Vec<u8> {
    let mut header = vec![next_header, 0];
    header.extend((offset << 3 | u16::from(more)).to_be_bytes());
    header.extend([0, 0, 0x56, 0x78]);
    [&header, payload].concat()
}

/// An authentication header with a check value of 12 bytes.
pub fn authentication(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let mut header = vec![next_header, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
    header.extend([0x5a; 12]);
    [&header, payload].concat()
}

/// A UDP datagram without a checksum.
pub fn udp(data: &[u8]) -> Vec<u8> {
    let mut datagram = vec![0xc0, 0x01, 0x00, 0x35];
    datagram.extend((8 + data.len() as u16).to_be_bytes());
    datagram.extend([0, 0]);
    datagram.extend(data);
    datagram
}

/// A TCP segment with an arbitrary checksum; the options are 32-bit words of no-operations.
pub fn tcp(options: u8, data: &[u8]) -> Vec<u8> {
    let mut segment =
        vec![0xd0, 0x02, 0x01, 0xbb, 0, 0, 0, 7, 0, 0, 0, 9, (5 + options) << 4, 0x18, 0x10, 0, 0xab, 0xcd, 0, 0];
    segment.extend(vec![1; usize::from(options) * 4]);
    segment.extend(data);
    segment
}

/// An echo request of ICMP or ICMPv6 with an arbitrary checksum.
pub fn echo(kind: u8, data: &[u8]) -> Vec<u8> {
    let mut message = vec![kind, 0, 0x12, 0x34, 0, 1, 0, 2];
    message.extend(data);
    message
}

/// A frame; tags go from the outside in, each by its ethertype.
pub fn ethernet(tags: &[u16], ethertype: u16, packet: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x02, 0, 0, 0, 0, 0x01, 0x02, 0, 0, 0, 0, 0x02];
    for (number, tag) in tags.iter().enumerate() {
        frame.extend(tag.to_be_bytes());
        frame.extend([0x20, 100 + number as u8]);
    }
    frame.extend(ethertype.to_be_bytes());
    frame.extend(packet);
    frame
}

/// Bytes that differ from their neighbours, which reveals misplaced data.
pub fn data(length: usize) -> Vec<u8> {
    (0..length).map(|place| (place * 37 + 11) as u8).collect()
}
