// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The frames of a client: read, made, and changed from one request to the next.

use crate::addresses::{CLIENT_MAC, PORT, SERVER, SERVER_MAC};
use crate::work::{Answer, DATA_LEN, Work};
use core::net::Ipv4Addr;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, IpProtocol,
    Ipv4Packet, Ipv4Repr, TcpControl, TcpPacket, TcpRepr, TcpSeqNumber,
};

pub(crate) const ETHERNET_LEN: usize = 14;
const IP_LEN: usize = 20;
const TCP_LEN: usize = 20;
pub(crate) const ACK_LEN: usize = ETHERNET_LEN + IP_LEN + TCP_LEN;
/// With the option that says the maximum segment size.
pub(crate) const SYN_LEN: usize = ACK_LEN + 4;
pub(crate) const REQUEST_LEN: usize = ACK_LEN + DATA_LEN;
pub(crate) const ARP_LEN: usize = ETHERNET_LEN + 28;
/// Where the fields are that change from segment to segment.
const TO_PORT: usize = ETHERNET_LEN + IP_LEN + 2;
const SEQ: usize = ETHERNET_LEN + IP_LEN + 4;
const ACK: usize = SEQ + 4;
const FLAGS: usize = SEQ + 9;
const CHECKSUM: usize = SEQ + 12;
pub(crate) const DATA: usize = ACK_LEN;
const WINDOW: u16 = 60_000;
const MAX_SEGMENT: u16 = 1_460;

pub(crate) const FIN: u8 = 0x01;
pub(crate) const SYN: u8 = 0x02;
pub(crate) const RST: u8 = 0x04;
const ACKNOWLEDGES: u8 = 0x10;

/// What a frame for a client is.
#[derive(Debug)]
pub(crate) enum Inbound<'a> {
    /// Somebody asks for this address.
    Arp(Ipv4Addr),
    Tcp(Segment<'a>),
    /// Its checksum is wrong, or it is cut.
    Damaged,
    Other,
}

/// A segment to a client, with a correct checksum.
#[derive(Debug)]
pub(crate) struct Segment<'a> {
    pub(crate) to: Ipv4Addr,
    pub(crate) to_port: u16,
    pub(crate) from_port: u16,
    pub(crate) seq: u32,
    pub(crate) ack: u32,
    pub(crate) flags: u8,
    /// Not scaled: no window of ours is.
    pub(crate) window: u16,
    pub(crate) data: &'a [u8],
}

/// Reads a frame.
pub(crate) fn inbound(frame: &[u8]) -> Inbound<'_> {
    let Some((ethernet, packet)) = frame.split_at_checked(ETHERNET_LEN) else { return Inbound::Other };
    match EthernetFrame::new_unchecked(ethernet).ethertype() {
        EthernetProtocol::Ipv4 => tcp(packet).unwrap_or(Inbound::Damaged),
        EthernetProtocol::Arp => match ArpPacket::new_checked(packet).and_then(|arp| ArpRepr::parse(&arp)) {
            Ok(ArpRepr::EthernetIpv4 { operation: ArpOperation::Request, target_protocol_addr, .. }) => {
                Inbound::Arp(target_protocol_addr)
            }
            _ => Inbound::Other,
        },
        _ => Inbound::Other,
    }
}

/// `None`: damaged.
fn tcp(packet: &[u8]) -> Option<Inbound<'_>> {
    let ip = Ipv4Packet::new_checked(packet).ok()?;
    if ip.next_header() != IpProtocol::Tcp {
        return Some(Inbound::Other);
    }
    let (header, rest) = packet.split_at_checked(usize::from(ip.header_len()))?;
    let segment = rest.get(..usize::from(ip.total_len()).checked_sub(header.len())?)?;
    let tcp = TcpPacket::new_checked(segment).ok()?;
    let whole = pseudo_header(ip.src_addr(), ip.dst_addr(), segment.len()) + sum(segment);
    if fold(sum(header)) != 0xffff || fold(whole) != 0xffff {
        return None;
    }
    Some(Inbound::Tcp(Segment {
        to: ip.dst_addr(),
        to_port: tcp.dst_port(),
        from_port: tcp.src_port(),
        seq: tcp.seq_number().0.cast_unsigned(),
        ack: tcp.ack_number().0.cast_unsigned(),
        // The byte of the header that has them.
        flags: segment[13],
        window: tcp.window_len(),
        data: &segment[usize::from(tcp.header_len())..],
    }))
}

/// The frame of a request, of which only numbers change.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    work: Work,
    number: u32,
    frame: [u8; REQUEST_LEN],
    /// The sum for the checksum, without what changes.
    base: u64,
}

impl Request {
    /// The request of a client.
    pub(crate) fn new(work: Work, number: u32, client: (Ipv4Addr, u16)) -> Self {
        let mut frame = [0; REQUEST_LEN];
        write_segment(&mut frame, client, TcpControl::Psh, 0, 0, &work.request(number));
        frame[CHECKSUM..CHECKSUM + 2].fill(0);
        let base = pseudo_header(client.0, SERVER, TCP_LEN + DATA_LEN) + sum(&frame[ETHERNET_LEN + IP_LEN..]);
        Self { work, number, frame, base }
    }

    /// Writes it with these numbers.
    #[inline]
    pub(crate) fn write(&self, to: &mut [u8; REQUEST_LEN], seq: u32, ack: u32) {
        *to = self.frame;
        to[SEQ..SEQ + 4].copy_from_slice(&seq.to_be_bytes());
        to[ACK..ACK + 4].copy_from_slice(&ack.to_be_bytes());
        let changed = self.work.number(&mut to[DATA..], seq);
        let checksum = !fold(self.base + u64::from(seq) + u64::from(ack) + sum(changed));
        to[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
    }

    /// What `data` is to the request with this sequence number, after so many bytes of the answer.
    #[inline]
    pub(crate) fn answer(&self, data: &[u8], seq: u32, after: usize) -> Answer {
        self.work.answer(&self.frame[DATA..], self.number, data, seq, after)
    }
}

/// A segment of the back end's side to the server, of which only numbers change.
#[derive(Debug)]
pub(crate) struct Template {
    frame: Vec<u8>,
    /// The sum for the checksum, without what changes.
    base: u64,
}

impl Template {
    /// From an address and a port.
    pub(crate) fn new(from: (Ipv4Addr, u16), control: TcpControl, data: &[u8]) -> Self {
        let head = if control == TcpControl::Syn { SYN_LEN } else { ACK_LEN };
        let mut frame = vec![0; head + data.len()];
        write_segment(&mut frame, from, control, 0, 0, data);
        // Also the one to a SYN acknowledges.
        frame[FLAGS] |= ACKNOWLEDGES;
        frame[TO_PORT..TO_PORT + 2].fill(0);
        frame[CHECKSUM..CHECKSUM + 2].fill(0);
        let segment = &frame[ETHERNET_LEN + IP_LEN..];
        let base = pseudo_header(from.0, SERVER, segment.len()) + sum(segment);
        Self { frame, base }
    }

    pub(crate) const fn len(&self) -> usize {
        self.frame.len()
    }

    /// Writes it with these numbers, into a frame of its length.
    #[inline]
    pub(crate) fn write(&self, to: &mut [u8], to_port: u16, seq: u32, ack: u32) {
        to.copy_from_slice(&self.frame);
        to[TO_PORT..TO_PORT + 2].copy_from_slice(&to_port.to_be_bytes());
        to[SEQ..SEQ + 4].copy_from_slice(&seq.to_be_bytes());
        to[ACK..ACK + 4].copy_from_slice(&ack.to_be_bytes());
        let checksum = !fold(self.base + u64::from(to_port) + u64::from(seq) + u64::from(ack));
        to[CHECKSUM..CHECKSUM + 2].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// Writes a segment of a client to the server. `frame` is as long as it.
pub(crate) fn write_segment(
    frame: &mut [u8],
    (address, port): (Ipv4Addr, u16),
    control: TcpControl,
    seq: u32,
    ack: u32,
    data: &[u8],
) {
    let is_first = control == TcpControl::Syn;
    let tcp = TcpRepr {
        src_port: port,
        dst_port: PORT,
        control,
        seq_number: TcpSeqNumber(seq.cast_signed()),
        ack_number: (!is_first).then_some(TcpSeqNumber(ack.cast_signed())),
        window_len: WINDOW,
        window_scale: None,
        max_seg_size: is_first.then_some(MAX_SEGMENT),
        sack_permitted: false,
        sack_ranges: [None; 3],
        timestamp: None,
        payload: data,
    };
    let ip = Ipv4Repr {
        src_addr: address,
        dst_addr: SERVER,
        next_header: IpProtocol::Tcp,
        payload_len: tcp.buffer_len(),
        hop_limit: 64,
    };
    let mut frame = ethernet(frame, SERVER_MAC, EthernetProtocol::Ipv4);
    let checksums = ChecksumCapabilities::default();
    let mut packet = Ipv4Packet::new_unchecked(frame.payload_mut());
    ip.emit(&mut packet, &checksums);
    let mut segment = TcpPacket::new_unchecked(packet.payload_mut());
    tcp.emit(&mut segment, &address.into(), &SERVER.into(), &checksums);
}

/// Writes the answer to the server's question for an address of a client.
pub(crate) fn write_arp(frame: &mut [u8], address: Ipv4Addr) {
    let arp = ArpRepr::EthernetIpv4 {
        operation: ArpOperation::Reply,
        source_hardware_addr: CLIENT_MAC,
        source_protocol_addr: address,
        target_hardware_addr: SERVER_MAC,
        target_protocol_addr: SERVER,
    };
    let mut frame = ethernet(frame, SERVER_MAC, EthernetProtocol::Arp);
    arp.emit(&mut ArpPacket::new_unchecked(frame.payload_mut()));
}

fn ethernet(frame: &mut [u8], to: EthernetAddress, ethertype: EthernetProtocol) -> EthernetFrame<&mut [u8]> {
    let mut frame = EthernetFrame::new_unchecked(frame);
    EthernetRepr { src_addr: CLIENT_MAC, dst_addr: to, ethertype }.emit(&mut frame);
    frame
}

/// The sum of RFC 1071, to be folded: 16-bit words may be added in pairs.
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<4>();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    words.iter().map(|word| u64::from(u32::from_be_bytes(*word))).sum::<u64>() + u64::from(u32::from_be_bytes(last))
}

fn pseudo_header(from: Ipv4Addr, to: Ipv4Addr, len: usize) -> u64 {
    u64::from(from.to_bits()) + u64::from(to.to_bits()) + u64::from(u8::from(IpProtocol::Tcp)) + len as u64
}

fn fold(sum: u64) -> u16 {
    let mut sum = (sum >> 32) + (sum & 0xffff_ffff);
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::{Inbound, REQUEST_LEN, Request, inbound};
    use crate::addresses::client;
    use crate::work::Work;

    #[test]
    fn a_request_with_other_numbers_has_a_correct_checksum() {
        for work in [Work::Echo, Work::Message, Work::Adder, Work::Page, Work::LastPage] {
            let request = Request::new(work, 70_001, client(70_001));
            let mut frame = [0; REQUEST_LEN];
            for (seq, ack) in [(0, 0), (1, u32::MAX), (u32::MAX, 0x8000_0001), (0xfffe_ffff, 0xffff_fffe)] {
                request.write(&mut frame, seq, ack);
                let read = inbound(&frame);
                assert!(
                    matches!(&read, Inbound::Tcp(segment) if (segment.seq, segment.ack) == (seq, ack)),
                    "{work:?} {seq} {ack}: {read:?}"
                );
                frame[60] ^= 1;
                assert!(matches!(inbound(&frame), Inbound::Damaged));
            }
        }
    }
}
