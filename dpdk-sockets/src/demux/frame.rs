// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Looks at received frames.

use super::{Inbound, ipv4, ipv6};
use crate::link::{Ethernet, Link};
use crate::wire::{Verified, Wire};
use smoltcp::wire::EthernetProtocol;

/// Looks at a frame for the host at this end of a link.
pub(crate) fn inbound<'f, W: Wire>(bytes: &'f [u8], link: &Link<W>, verified: Verified) -> Inbound<'f> {
    let (vlan, mac) = (link.vlan(), link.mac());
    let Some(Ethernet { to, from, ethertype }) = Ethernet::parse(bytes, vlan) else { return Inbound::Ignored };
    let header = Ethernet::len(vlan);
    match ethertype {
        EthernetProtocol::Ipv4 if to == mac => ipv4::inbound(bytes, header, from, link.routes(), verified),
        EthernetProtocol::Ipv6 if to == mac => ipv6::inbound(bytes, header, from, link.routes(), verified),
        EthernetProtocol::Ipv6 if to.is_multicast() => ipv6::to_a_group(&bytes[header..], from),
        EthernetProtocol::Arp if to == mac || to.is_broadcast() => Inbound::Arp(&bytes[header..]),
        _ => Inbound::Ignored,
    }
}
