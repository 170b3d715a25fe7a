// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! TCP and UDP in a packet of either version of IP, whose header has `header_len` bytes.

use super::{Datagram, Inbound, Packet, Segment};
use crate::checksum;
use crate::udp;
use crate::wire::Checksums;
use core::net::IpAddr;
use smoltcp::wire::UdpPacket;

#[inline]
pub(super) fn tcp(packet: Packet<'_>, header_len: usize, from: IpAddr, verified: Checksums) -> Inbound<'_> {
    let Some(segment) = Segment::parse(packet.bytes, header_len, packet.to, from) else { return Inbound::Ignored };
    if !verified.l4 && !checksum::is_content_right(packet.bytes, header_len) {
        return Inbound::Damaged;
    }
    Inbound::Tcp(segment, packet.from)
}

/// The packet begins after `offset` bytes of its frame.
pub(super) fn udp(
    packet: Packet<'_>,
    offset: usize,
    header_len: usize,
    from: IpAddr,
    verified: Checksums,
) -> Inbound<'_> {
    let Ok(udp) = UdpPacket::new_checked(&packet.bytes[header_len..]) else { return Inbound::Ignored };
    // A datagram can be shorter than the content of its packet.
    let datagram = &packet.bytes[..header_len + usize::from(udp.len())];
    if !verified.l4 && !checksum::is_content_right(datagram, header_len) {
        return Inbound::Damaged;
    }
    let placed = udp::place(&udp, from, offset + header_len);
    placed.map_or(Inbound::Ignored, |(port, place)| Inbound::Udp(Datagram { packet, port, place }))
}
