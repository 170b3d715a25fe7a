// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What an IPv4 packet carries (RFC 791).

use super::{Inbound, Packet, transport, undelivered};
use crate::checksum;
use crate::link::Routes;
use crate::wire::Checksums;
use core::net::IpAddr;
use smoltcp::wire::{EthernetAddress, IpProtocol, Ipv4Packet};

/// Looks at a packet, which begins after so many bytes of its frame.
pub(super) fn inbound<'f>(
    frame: &'f [u8],
    offset: usize,
    mac: EthernetAddress,
    routes: &Routes,
    verified: Checksums,
) -> Inbound<'f> {
    let bytes = &frame[offset..];
    let Ok(packet) = Ipv4Packet::new_checked(bytes) else { return Inbound::Ignored };
    let (from, to) = (IpAddr::V4(packet.src_addr()), IpAddr::V4(packet.dst_addr()));
    // Nobody else has this host's addresses, and nothing answers to many.
    if packet.version() != 4 || !routes.is_own(to) || !routes.is_other_host(from) {
        return Inbound::Ignored;
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
    let whole = Packet { bytes, to, from: mac };
    match packet.next_header() {
        IpProtocol::Tcp => transport::tcp(whole, header_len, from, verified),
        IpProtocol::Udp => transport::udp(whole, offset, header_len, from, verified),
        IpProtocol::Icmp => {
            undelivered::icmpv4(&bytes[header_len..], to).map_or(Inbound::Icmp(whole), Inbound::Undelivered)
        }
        _ => Inbound::Unserved(whole),
    }
}
