// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a received frame can carry.

use super::{Segment, Undelivered};
use crate::udp::Place;
use core::net::IpAddr;
use smoltcp::wire::EthernetAddress;

/// What a frame carries.
pub(crate) enum Inbound<'f> {
    /// An ARP packet.
    Arp(&'f [u8]),
    /// An IPv6 packet of neighbor discovery, and who has sent the frame.
    Neighbor(&'f [u8], EthernetAddress),
    /// An IP packet with a whole TCP header, and who has sent the frame.
    Tcp(Segment<'f>, EthernetAddress),
    /// A UDP datagram.
    Udp(Datagram<'f>),
    /// Somebody says that a segment of ours has not arrived.
    Undelivered(Undelivered),
    /// Another ICMP message.
    Icmp(Packet<'f>),
    /// An IP packet for a protocol that nobody serves.
    Unserved(Packet<'f>),
    /// A packet with a wrong checksum.
    Damaged,
    /// A part of an IP packet.
    Fragment,
    /// Nothing for this host, or nothing that it knows.
    Ignored,
}

/// An IP packet, to which address of the host it was sent, and who has sent the frame.
#[derive(Clone, Copy)]
pub(crate) struct Packet<'f> {
    pub(crate) bytes: &'f [u8],
    pub(crate) to: IpAddr,
    pub(crate) from: EthernetAddress,
}

/// A UDP datagram: its packet, the port, and where it is in the frame.
pub(crate) struct Datagram<'f> {
    pub(crate) packet: Packet<'f>,
    pub(crate) port: u16,
    pub(crate) place: Place,
}
