// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a stream sends, put together by smoltcp instead of the generator.

use crate::{
    addresses::{Fields, Ranges},
    frame::{Format, Ipv6, Macs},
};
use dpdk_rs::MacAddr;
use smoltcp::{
    phy::{Checksum, ChecksumCapabilities},
    wire::{
        EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, IpAddress, IpProtocol, Ipv4Address, Ipv4Packet,
        Ipv4Repr, UdpPacket, UdpRepr,
    },
};

/// Ethernet, IPv4 and UDP headers.
const PAYLOAD_AT: usize = 14 + 20 + 8;
const TUNNEL_LEN: usize = PAYLOAD_AT + 8;
pub(crate) const MAGIC: [u8; 2] = [0x6c, 0x32];
/// What identifies a frame: magic number, session, stream, sequence number, time stamp.
pub(crate) const IDENTITY_LEN: usize = 2 + 1 + 1 + 6 + 8;
pub(crate) const PROBE: u8 = 0x80;

/// One stream of one run.
#[derive(Clone, Debug)]
pub(crate) struct SentStream {
    /// Of the frames in their order, again and again.
    pub(crate) lens: Vec<usize>,
    pub(crate) format: Format,
    pub(crate) macs: Macs,
    pub(crate) session: u8,
    pub(crate) stream: u8,
    pub(crate) ranges: Ranges,
    /// After how many frames the fields begin again.
    pub(crate) flows: Option<u64>,
}

/// What a frame says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) session: u8,
    pub(crate) stream: u8,
    pub(crate) sequence: u64,
    pub(crate) time: u64,
}

impl Identity {
    fn to_bytes(self) -> Vec<u8> {
        let [_, _, sequence @ ..] = self.sequence.to_be_bytes();
        [&MAGIC[..], &[self.session, self.stream], &sequence, &self.time.to_be_bytes()].concat()
    }

    /// Reads the identity of a frame; `None` if the generator did not make it.
    pub(crate) fn of(frame: &[u8], format: &Format) -> Option<Self> {
        let payload = frame.get(PAYLOAD_AT + more_len(format)..)?;
        let (session, stream, rest) = match payload.get(..IDENTITY_LEN)? {
            [first, second, session, stream, rest @ ..] if [*first, *second] == MAGIC => (*session, *stream, rest),
            _ => return None,
        };
        let (sequence, time) = rest.split_at(6);
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        Some(Self { session, stream, sequence: number(sequence), time: number(time) })
    }
}

/// Bytes of headers beside Ethernet, IPv4 and UDP.
pub(crate) fn more_len(format: &Format) -> usize {
    let tunnel = if format.vxlan.is_some() { TUNNEL_LEN } else { 0 };
    4 * format.vlans.len() + tunnel + if format.ipv6.is_some() { 20 } else { 0 }
}

/// The sum of RFC 1071, carries added back.
fn sum(bytes: &[u8]) -> u16 {
    bytes.chunks(2).fold(0_u16, |sum, pair| {
        let number = u16::from_be_bytes([pair.first().copied().unwrap_or(0), pair.get(1).copied().unwrap_or(0)]);
        let (sum, carry) = sum.overflowing_add(number);
        sum + u16::from(carry)
    })
}

/// Ethernet, IPv4 and UDP headers with what they carry.
fn datagram(macs: [[u8; 6]; 2], ips: [u32; 2], ports: [u16; 2], payload: &[u8], udp_checksum: bool) -> Vec<u8> {
    let [dst, src] = macs.map(EthernetAddress);
    let ethernet = EthernetRepr { src_addr: src, dst_addr: dst, ethertype: EthernetProtocol::Ipv4 };
    let [src, dst] = ips.map(Ipv4Address::from);
    let [src_port, dst_port] = ports;
    let udp = UdpRepr { src_port, dst_port };
    let ip = Ipv4Repr {
        src_addr: src,
        dst_addr: dst,
        next_header: IpProtocol::Udp,
        payload_len: payload.len() + 8,
        hop_limit: 64,
    };
    let mut bytes = vec![0; PAYLOAD_AT + payload.len()];
    let mut frame = EthernetFrame::new_unchecked(&mut bytes);
    ethernet.emit(&mut frame);
    let mut packet = Ipv4Packet::new_unchecked(frame.payload_mut());
    let mut checksums = ChecksumCapabilities::default();
    ip.emit(&mut packet, &checksums);
    if !udp_checksum {
        checksums.udp = Checksum::None;
    }
    let (src, dst) = (IpAddress::Ipv4(src), IpAddress::Ipv4(dst));
    let mut datagram = UdpPacket::new_unchecked(packet.payload_mut());
    udp.emit(&mut datagram, &src, &dst, payload.len(), |place| place.copy_from_slice(payload), &checksums);
    bytes
}

impl SentStream {
    /// The length of a frame: that of a probe is the longest.
    pub(crate) fn len_of(&self, identity: Identity) -> usize {
        let mut lens = self.lens.iter().copied();
        let place = identity.sequence.checked_rem(self.lens.len() as u64).unwrap_or(0);
        let len = if identity.stream & PROBE == 0 { lens.nth(place as usize) } else { lens.max() };
        len.unwrap_or_default()
    }

    /// The frame as it must have been sent.
    pub(crate) fn frame(&self, identity: Identity) -> Vec<u8> {
        let format = &self.format;
        let len = self.len_of(identity) - more_len(format);
        let fields = self.fields(identity.sequence);
        let mut payload = identity.to_bytes();
        payload.extend((0..len - PAYLOAD_AT - IDENTITY_LEN).map(|index| (index % 251) as u8 ^ 0x5a));
        let outer_macs = [self.macs.dst, self.macs.src].map(MacAddr::octets);
        let macs = if format.vxlan.is_some() { [[2, 0, 0, 0, 3, 0], [2, 0, 0, 0, 2, 0]] } else { outer_macs };
        let (ips, ports) = ([fields.src_ip, fields.dst_ip], [fields.src_udp, fields.dst_udp]);
        let mut bytes = datagram(macs, ips, ports, &payload, true);
        if let Some(Ipv6 { src, dst }) = format.ipv6 {
            let udp = bytes.split_off(34);
            let udp_len = udp.len() as u16;
            let low = ips.map(u32::to_be_bytes).concat();
            let addresses = [&src[..], &dst, &low].concat();
            // The protocols' type and version; the checksum is replaced by that of the other pseudo header.
            bytes.truncate(12);
            bytes.extend([0x86, 0xdd, 0x60, 0, 0, 0]);
            bytes.extend(udp_len.to_be_bytes());
            bytes.extend([17, 64]);
            bytes.extend(&addresses);
            let (ports_and_len, rest) = udp.split_at(6);
            let covered = [&addresses, &[0, 17][..], &udp_len.to_be_bytes(), ports_and_len, &[0, 0], &payload].concat();
            let checksum = match !sum(&covered) {
                0 => 0xffff,
                checksum => checksum,
            };
            bytes.extend(ports_and_len);
            bytes.extend(checksum.to_be_bytes());
            bytes.extend(rest.iter().skip(2));
        }
        if let Some(vni) = format.vxlan {
            let inside = [&[8, 0, 0, 0][..], &(vni << 8).to_be_bytes(), &bytes].concat();
            let ips = [[198, 18, 0, 0], [198, 19, 0, 0]].map(u32::from_be_bytes);
            bytes = datagram(outer_macs, ips, [49_152, 4789], &inside, false);
        }
        let tags = match format.vlans.as_slice() {
            [] => Vec::new(),
            [id] => [0x8100, *id].map(u16::to_be_bytes).concat(),
            [service, id, ..] => [0x88a8, *service, 0x8100, *id].map(u16::to_be_bytes).concat(),
        };
        bytes.splice(12..12, tags);
        bytes
    }

    /// The fields of a frame by the definition: the number in the mixed radix of the ranges' sizes, the longest range first
    /// (of equal ones the first), gives the steps of each field, on top of those of the fields before.
    pub(crate) fn fields(&self, sequence: u64) -> Fields {
        let Ranges { src_ip, dst_ip, src_udp, dst_udp } = self.ranges;
        let ranges = [
            (src_ip.first, src_ip.last),
            (dst_ip.first, dst_ip.last),
            (src_udp.first.into(), src_udp.last.into()),
            (dst_udp.first.into(), dst_udp.last.into()),
        ];
        let mut places: Vec<(usize, u64)> =
            ranges.iter().map(|(first, last)| u64::from(last - first) + 1).enumerate().collect();
        places.sort_by_key(|(index, size)| (core::cmp::Reverse(*size), *index));
        let number = self.flows.map_or(sequence, |flows| sequence.checked_rem(flows).unwrap_or(0));
        let (mut rest, mut steps, mut values) = (number, 0, [0; 4]);
        for (index, size) in places {
            steps += rest % size;
            rest /= size;
            let first = ranges.get(index).map_or(0, |(first, _)| *first);
            let value = u64::from(first) + steps % size;
            if let Some(place) = values.get_mut(index) {
                *place = value as u32;
            }
        }
        let [src_ip, dst_ip, src_udp, dst_udp] = values;
        Fields { src_ip, dst_ip, src_udp: src_udp as u16, dst_udp: dst_udp as u16 }
    }
}
