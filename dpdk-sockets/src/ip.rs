// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The IP header of packets that the stack sends. They have no options of IPv4 and no extension headers of IPv6.

use smoltcp::wire::{IPV4_HEADER_LEN, IPV6_HEADER_LEN, IpProtocol, Ipv4Packet, Ipv6Packet};

/// Whether a packet says that it is of IPv6.
#[inline]
pub(crate) const fn is_ipv6(packet: &[u8]) -> bool {
    matches!(packet, [first, ..] if *first >> 4 == 6)
}

/// The length of the header in bytes, and the protocol of what follows. `None` if the packet is shorter.
#[inline]
pub(crate) fn header(packet: &[u8]) -> Option<(usize, IpProtocol)> {
    if is_ipv6(packet) {
        (packet.len() >= IPV6_HEADER_LEN).then(|| (IPV6_HEADER_LEN, Ipv6Packet::new_unchecked(packet).next_header()))
    } else {
        (packet.len() >= IPV4_HEADER_LEN).then(|| (IPV4_HEADER_LEN, Ipv4Packet::new_unchecked(packet).next_header()))
    }
}
