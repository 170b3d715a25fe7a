// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! ICMP messages about segments of ours.

use super::Flow;
use core::net::{IpAddr, SocketAddr};
use smoltcp::wire::{
    IPV4_HEADER_LEN, IPV6_HEADER_LEN, Icmpv4DstUnreachable, Icmpv4Message, Icmpv4Packet, Icmpv6DstUnreachable,
    Icmpv6Message, Icmpv6Packet, IpProtocol, Ipv4Packet, Ipv6Packet, TcpSeqNumber,
};

/// A segment of ours that was not delivered, as an ICMP message says (RFC 792, RFC 4443). Anybody can write such a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Undelivered {
    pub(crate) flow: Flow,
    pub(crate) seq: TcpSeqNumber,
    pub(crate) reason: Reason,
}

/// Why a segment was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    /// The packet is longer than this, or than something unknown (0), and must not be fragmented (RFC 1191, RFC 8201).
    TooBig(usize),
    /// The host does not serve that.
    Refused,
    /// There is no way to the host.
    Unreachable,
}

/// The bytes of an ICMP message before the packet that it is about.
const HEADER_LEN: usize = 8;

/// The segment of the host with this address that a message of the type "destination unreachable" is about.
pub(super) fn icmpv4(icmp: &[u8], address: IpAddr) -> Option<Undelivered> {
    let message = Icmpv4Packet::new_checked(icmp).ok()?;
    if message.msg_type() != Icmpv4Message::DstUnreachable || !message.verify_checksum() {
        return None;
    }
    let reason = match Icmpv4DstUnreachable::from(message.msg_code()) {
        Icmpv4DstUnreachable::FragRequired => Reason::TooBig(u16::from_be_bytes([icmp[6], icmp[7]]).into()),
        Icmpv4DstUnreachable::ProtoUnreachable | Icmpv4DstUnreachable::PortUnreachable => Reason::Refused,
        _ => Reason::Unreachable,
    };
    // At least the header of the packet, and the ports and the number of the segment, are repeated (RFC 792).
    let ours = icmp.get(HEADER_LEN..)?;
    let packet = Ipv4Packet::new_unchecked(ours.get(..IPV4_HEADER_LEN)?);
    let local = IpAddr::V4(packet.src_addr());
    if packet.version() != 4 || packet.next_header() != IpProtocol::Tcp || local != address {
        return None;
    }
    let tcp = ours.get(usize::from(packet.header_len()).max(IPV4_HEADER_LEN)..)?;
    segment(tcp, local, IpAddr::V4(packet.dst_addr()), reason)
}

/// The segment that a message of the type "destination unreachable" or "packet too big" is about.
pub(super) fn icmpv6(whole: &Ipv6Packet<&[u8]>) -> Option<Undelivered> {
    let message = Icmpv6Packet::new_checked(whole.payload()).ok()?;
    let reason = match message.msg_type() {
        Icmpv6Message::PktTooBig => Reason::TooBig(message.pkt_too_big_mtu() as usize),
        Icmpv6Message::DstUnreachable => match Icmpv6DstUnreachable::from(message.msg_code()) {
            Icmpv6DstUnreachable::PortUnreachable => Reason::Refused,
            _ => Reason::Unreachable,
        },
        _ => return None,
    };
    if !message.verify_checksum(&whole.src_addr(), &whole.dst_addr()) {
        return None;
    }
    let ours = whole.payload().get(HEADER_LEN..)?;
    let packet = Ipv6Packet::new_unchecked(ours.get(..IPV6_HEADER_LEN)?);
    if packet.version() != 6 || packet.next_header() != IpProtocol::Tcp || packet.src_addr() != whole.dst_addr() {
        return None;
    }
    segment(&ours[IPV6_HEADER_LEN..], packet.src_addr().into(), packet.dst_addr().into(), reason)
}

/// The segment that begins with these bytes.
fn segment(tcp: &[u8], local: IpAddr, remote: IpAddr, reason: Reason) -> Option<Undelivered> {
    let [port, port_low, peer, peer_low, seq @ ..] = tcp.first_chunk::<8>()?;
    let local = SocketAddr::new(local, u16::from_be_bytes([*port, *port_low]));
    let remote = SocketAddr::new(remote, u16::from_be_bytes([*peer, *peer_low]));
    let seq = TcpSeqNumber(i32::from_be_bytes(*seq));
    Some(Undelivered { flow: Flow::new(local, remote), seq, reason })
}
