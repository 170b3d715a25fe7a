// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a stream sends, put together by smoltcp instead of the generator.

use crate::{
    addresses::{Fields, Ranges},
    frame::{Format, Macs},
};
use smoltcp::{
    phy::ChecksumCapabilities,
    wire::{
        EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, IpAddress, IpProtocol, Ipv4Address, Ipv4Packet,
        Ipv4Repr, UdpPacket, UdpRepr,
    },
};

/// Ethernet, IPv4 and UDP headers.
const PAYLOAD_AT: usize = 14 + 20 + 8;
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
        let payload = frame.get(PAYLOAD_AT + tags_len(format)..)?;
        let (session, stream, rest) = match payload.get(..IDENTITY_LEN)? {
            [first, second, session, stream, rest @ ..] if [*first, *second] == MAGIC => (*session, *stream, rest),
            _ => return None,
        };
        let (sequence, time) = rest.split_at(6);
        let number = |bytes: &[u8]| bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        Some(Self { session, stream, sequence: number(sequence), time: number(time) })
    }
}

/// Bytes of the VLAN tags.
pub(crate) const fn tags_len(format: &Format) -> usize {
    4 * format.vlans.len()
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
        let mut bytes = self.untagged(identity);
        let tags = match self.format.vlans.as_slice() {
            [] => Vec::new(),
            [id] => [0x8100, *id].map(u16::to_be_bytes).concat(),
            [service, id, ..] => [0x88a8, *service, 0x8100, *id].map(u16::to_be_bytes).concat(),
        };
        bytes.splice(12..12, tags);
        bytes
    }

    fn untagged(&self, identity: Identity) -> Vec<u8> {
        let len = self.len_of(identity) - tags_len(&self.format);
        let fields = self.fields(identity.sequence);
        let [src, dst] = [fields.src_ip, fields.dst_ip].map(Ipv4Address::from);
        let udp = UdpRepr { src_port: fields.src_udp, dst_port: fields.dst_udp };
        let ip = Ipv4Repr {
            src_addr: src,
            dst_addr: dst,
            next_header: IpProtocol::Udp,
            payload_len: len - 34,
            hop_limit: 64,
        };
        let ethernet = EthernetRepr {
            src_addr: EthernetAddress(self.macs.src.octets()),
            dst_addr: EthernetAddress(self.macs.dst.octets()),
            ethertype: EthernetProtocol::Ipv4,
        };
        let mut payload = identity.to_bytes();
        payload.extend((0..len - PAYLOAD_AT - IDENTITY_LEN).map(|index| (index % 251) as u8 ^ 0x5a));

        let mut bytes = vec![0; len];
        let mut frame = EthernetFrame::new_unchecked(&mut bytes);
        ethernet.emit(&mut frame);
        let mut packet = Ipv4Packet::new_unchecked(frame.payload_mut());
        let checksums = ChecksumCapabilities::default();
        ip.emit(&mut packet, &checksums);
        let (src, dst) = (IpAddress::Ipv4(src), IpAddress::Ipv4(dst));
        let mut datagram = UdpPacket::new_unchecked(packet.payload_mut());
        udp.emit(&mut datagram, &src, &dst, payload.len(), |place| place.copy_from_slice(&payload), &checksums);
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
        let (mut rest, mut steps, mut values) = (sequence, 0, [0; 4]);
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
