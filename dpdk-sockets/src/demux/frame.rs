// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a received frame carries.

use super::Flow;
use crate::checksum;
use crate::link::{Ethernet, Link};
use crate::udp::{self, Place};
use crate::wire::{Verified, Wire};
use core::net::{Ipv4Addr, SocketAddrV4};
use smoltcp::wire::{
    EthernetAddress, EthernetProtocol, IPV4_HEADER_LEN, Icmpv4DstUnreachable, Icmpv4Message, Icmpv4Packet, IpProtocol,
    Ipv4Packet, TcpOption, TcpPacket, TcpSeqNumber, UdpPacket,
};

/// What a frame carries.
pub(crate) enum Inbound<'f> {
    /// An ARP packet.
    Arp(&'f [u8]),
    /// An IPv4 packet with a whole TCP header, and who has sent the frame.
    Tcp(Segment<'f>, EthernetAddress),
    /// A UDP datagram: the port, and where it is in the frame.
    Udp(u16, Place, &'f [u8], EthernetAddress),
    /// Somebody says that a segment of ours has not arrived.
    Undelivered(Undelivered),
    /// Another IPv4 packet, and who has sent the frame.
    Ipv4(&'f [u8], EthernetAddress),
    /// A packet with a wrong checksum.
    Damaged,
    /// A part of an IPv4 packet.
    Fragment,
    /// Nothing for this host, or nothing that it knows.
    Other,
}

/// A segment of ours that was not delivered, as an ICMP message says (RFC 792). Anybody can write such a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Undelivered {
    pub(crate) flow: Flow,
    pub(crate) seq: TcpSeqNumber,
    pub(crate) reason: Reason,
}

/// Why a segment was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The packet is longer than this, or than something unknown (0), and must not be fragmented (RFC 1191).
    TooBig(u16),
    /// The host does not serve that.
    Refused,
    /// There is no way to the host.
    Unreachable,
}

/// A TCP segment.
pub(crate) struct Segment<'f> {
    /// The IPv4 packet.
    pub(crate) packet: &'f [u8],
    /// How many bytes of data it has.
    pub(crate) payload: usize,
    pub(crate) flow: Flow,
    pub(crate) seq: TcpSeqNumber,
    pub(crate) ack: Option<TcpSeqNumber>,
    pub(crate) syn: bool,
    pub(crate) fin: bool,
    pub(crate) rst: bool,
}

impl Segment<'_> {
    /// How many sequence numbers it takes.
    pub(crate) fn len(&self) -> usize {
        self.payload + usize::from(self.syn) + usize::from(self.fin)
    }

    /// The maximum segment size of a SYN (RFC 9293, section 3.7.1).
    pub(crate) fn segment_size(&self) -> u16 {
        let ip = Ipv4Packet::new_unchecked(self.packet);
        let tcp = TcpPacket::new_unchecked(ip.payload());
        let mut options = tcp.options();
        while let Ok((rest, option)) = TcpOption::parse(options) {
            match option {
                TcpOption::MaxSegmentSize(size) => return size,
                TcpOption::EndOfList => break,
                _ => options = rest,
            }
        }
        536
    }
}

/// Looks at a frame for the host at this end of a link.
pub(crate) fn inbound<'f, W: Wire>(bytes: &'f [u8], link: &Link<W>, verified: Verified) -> Inbound<'f> {
    let (vlan, mac) = (link.vlan(), link.mac());
    let Some(Ethernet { to, from, ethertype }) = Ethernet::parse(bytes, vlan) else { return Inbound::Other };
    if to != mac && !to.is_broadcast() {
        return Inbound::Other;
    }
    let header = Ethernet::len(vlan);
    match ethertype {
        EthernetProtocol::Arp => Inbound::Arp(&bytes[header..]),
        EthernetProtocol::Ipv4 if to == mac => ipv4(&bytes[header..], header, from, link.address(), verified),
        _ => Inbound::Other,
    }
}

/// Whether a host can have this address.
pub(crate) fn is_unicast(address: Ipv4Addr) -> bool {
    !address.is_unspecified() && !address.is_multicast() && !address.is_broadcast() && !address.is_loopback()
}

/// Looks at a packet, which begins after so many bytes of its frame.
fn ipv4(bytes: &[u8], offset: usize, from: EthernetAddress, address: Ipv4Addr, verified: Verified) -> Inbound<'_> {
    let Ok(packet) = Ipv4Packet::new_checked(bytes) else { return Inbound::Other };
    // Nobody else has this host's address, and nothing answers to many.
    let is_host = packet.src_addr() != address && is_unicast(packet.src_addr());
    if packet.version() != 4 || packet.dst_addr() != address || !is_host {
        return Inbound::Other;
    }
    let header_len = usize::from(packet.header_len());
    if !verified.ip && !checksum::is_header_right(&bytes[..header_len]) {
        return Inbound::Damaged;
    }
    if packet.more_frags() || packet.frag_offset() != 0 {
        return Inbound::Fragment;
    }
    // The rest is padding of the frame.
    let bytes = &bytes[..usize::from(packet.total_len())];
    let payload = &bytes[header_len..];
    match packet.next_header() {
        IpProtocol::Tcp => (),
        IpProtocol::Udp => {
            let Ok(udp) = UdpPacket::new_checked(payload) else { return Inbound::Other };
            // A datagram can be shorter than the content of its packet.
            let datagram = &bytes[..header_len + usize::from(udp.len())];
            if !verified.l4 && !checksum::is_content_right(datagram, header_len) {
                return Inbound::Damaged;
            }
            return udp::place(&udp, packet.src_addr(), offset + header_len)
                .map_or(Inbound::Other, |(port, place)| Inbound::Udp(port, place, bytes, from));
        }
        IpProtocol::Icmp => {
            return undelivered(payload, address).map_or(Inbound::Ipv4(bytes, from), Inbound::Undelivered);
        }
        _ => return Inbound::Ipv4(bytes, from),
    }
    let Ok(tcp) = TcpPacket::new_checked(payload) else { return Inbound::Other };
    if !verified.l4 && !checksum::is_content_right(bytes, header_len) {
        return Inbound::Damaged;
    }
    let local = SocketAddrV4::new(packet.dst_addr(), tcp.dst_port());
    let remote = SocketAddrV4::new(packet.src_addr(), tcp.src_port());
    let segment = Segment {
        packet: bytes,
        payload: tcp.payload().len(),
        flow: Flow::new(local, remote),
        seq: tcp.seq_number(),
        ack: tcp.ack().then(|| tcp.ack_number()),
        syn: tcp.syn(),
        fin: tcp.fin(),
        rst: tcp.rst(),
    };
    Inbound::Tcp(segment, from)
}

/// The bytes of an ICMP message before the packet that it is about.
const ICMP_HEADER_LEN: usize = 8;

/// The segment of the host with this address that an ICMP message of the type "destination unreachable" is about.
fn undelivered(icmp: &[u8], address: Ipv4Addr) -> Option<Undelivered> {
    let message = Icmpv4Packet::new_checked(icmp).ok()?;
    if message.msg_type() != Icmpv4Message::DstUnreachable || !message.verify_checksum() {
        return None;
    }
    let reason = match Icmpv4DstUnreachable::from(message.msg_code()) {
        Icmpv4DstUnreachable::FragRequired => Reason::TooBig(u16::from_be_bytes([icmp[6], icmp[7]])),
        Icmpv4DstUnreachable::ProtoUnreachable | Icmpv4DstUnreachable::PortUnreachable => Reason::Refused,
        _ => Reason::Unreachable,
    };
    // At least the header of the packet, and the ports and the number of the segment, are repeated (RFC 792).
    let ours = icmp.get(ICMP_HEADER_LEN..)?;
    let packet = Ipv4Packet::new_unchecked(ours.get(..IPV4_HEADER_LEN)?);
    if packet.version() != 4 || packet.next_header() != IpProtocol::Tcp || packet.src_addr() != address {
        return None;
    }
    let [port, port_low, peer, peer_low, seq @ ..] =
        ours.get(usize::from(packet.header_len()).max(IPV4_HEADER_LEN)..)?.first_chunk::<8>()?;
    let local = SocketAddrV4::new(address, u16::from_be_bytes([*port, *port_low]));
    let remote = SocketAddrV4::new(packet.dst_addr(), u16::from_be_bytes([*peer, *peer_low]));
    let seq = TcpSeqNumber(i32::from_be_bytes(*seq));
    Some(Undelivered { flow: Flow::new(local, remote), seq, reason })
}
