// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Neighbor discovery (RFC 4861): which IPv6 host has which MAC address.

use super::{Link, Neighbor};
use crate::config::is_unicast;
use crate::ethernet::Ethernet;
use crate::time::Time;
use crate::wire::Wire;
use core::net::{IpAddr, Ipv6Addr};
use smoltcp::phy::{ChecksumCapabilities, Medium};
use smoltcp::wire::{
    EthernetAddress, EthernetProtocol, HardwareAddress, Icmpv6Packet, Icmpv6Repr, IpProtocol, Ipv6Packet, Ipv6Repr,
    NdiscNeighborFlags, NdiscRepr, RawHardwareAddress,
};

/// All hosts of a link.
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// For so long, others can say that they have an address (RFC 4862, section 5.4; RFC 4861, section 10: RETRANS_TIMER).
const DUPLICATE_WAIT: Time = Time::from_millis(1_000);

/// RFC 4861, section 7.1: with any other hop limit, a message could be from another link.
const HOP_LIMIT: u8 = u8::MAX;

impl<W: Wire> Link<W> {
    /// Handles a received packet, whose hop limit is right. Returns what its sender says of itself.
    pub(crate) fn neighbor_discovery(&mut self, bytes: &[u8], mac: EthernetAddress) -> Option<Neighbor> {
        let packet = Ipv6Packet::new_checked(bytes).ok()?;
        let (from, to) = (packet.src_addr(), packet.dst_addr());
        let message = Icmpv6Packet::new_checked(packet.payload()).ok()?;
        let Ok(Icmpv6Repr::Ndisc(message)) = Icmpv6Repr::parse(&from, &to, &message, &ChecksumCapabilities::default())
        else {
            return None;
        };
        self.note_duplicate(from, &message, mac);
        // Nobody else has an address of the stack.
        if self.routes.is_own(from.into()) {
            return None;
        }
        match message {
            NdiscRepr::NeighborSolicit { target_addr: target, .. } if self.routes.is_own(target.into()) => {
                // A host that is about to take the address, and has none yet (RFC 4862, section 5.4.3).
                let is_nameless = from.is_unspecified();
                if is_nameless && to == solicited_node(target) {
                    self.advertise(target, ALL_NODES, group_mac(ALL_NODES));
                } else if is_unicast(from.into()) {
                    let neighbor = (from.into(), mac);
                    self.heard(neighbor);
                    self.advertise(target, from, mac);
                    return Some(neighbor);
                }
            }
            NdiscRepr::NeighborAdvert { target_addr: target, lladdr, flags } => {
                let said = lladdr.map(|address| address.parse(Medium::Ethernet));
                let mac = match said {
                    Some(Ok(HardwareAddress::Ethernet(mac))) => mac,
                    Some(_) => return None,
                    // Who was asked directly may leave it out (section 4.4).
                    None => mac,
                };
                let is_solicited = flags.contains(NdiscNeighborFlags::SOLICITED) && !to.is_multicast();
                let may_change = is_solicited || flags.contains(NdiscNeighborFlags::OVERRIDE);
                if mac.is_unicast() && may_change && !self.routes.is_own(target.into()) {
                    let neighbor = (target.into(), mac);
                    self.heard(neighbor);
                    return Some(neighbor);
                }
            }
            _ => (),
        }
        None
    }

    /// Asks whether another host has an address, or is about to take it (RFC 4862, section 5.4.2).
    pub(crate) fn ask_for_duplicates(&mut self, address: Ipv6Addr) {
        let group = solicited_node(address);
        let message = NdiscRepr::NeighborSolicit { target_addr: address, lladdr: None };
        self.tentative.push((address, self.now + DUPLICATE_WAIT));
        self.send_message(message, Ipv6Addr::UNSPECIFIED, group, group_mac(group));
    }

    /// Whether another host can still say that it has this address.
    pub(crate) fn is_tentative(&self, address: Ipv6Addr) -> bool {
        self.tentative.iter().any(|(other, _)| *other == address)
    }

    /// The addresses that others were found to have since the last call.
    pub(crate) fn take_duplicates(&mut self) -> Vec<Ipv6Addr> {
        let found = core::mem::take(&mut self.duplicates);
        let now = self.now;
        self.tentative.retain(|(address, until)| *until > now && !found.contains(address));
        found
    }

    fn note_duplicate(&mut self, from: Ipv6Addr, message: &NdiscRepr<'_>, mac: EthernetAddress) {
        let target = match message {
            NdiscRepr::NeighborSolicit { target_addr, .. } if from.is_unspecified() && mac != self.mac => target_addr,
            NdiscRepr::NeighborAdvert { target_addr, .. } => target_addr,
            _ => return,
        };
        if self.is_tentative(*target) {
            self.duplicates.push(*target);
        }
    }

    /// Asks a host, or all that may have an address, who has it.
    pub(super) fn ask_by_neighbor_discovery(&mut self, address: Ipv6Addr, confirm: Option<EthernetAddress>) {
        let Some(IpAddr::V6(own)) = self.routes.source(address.into()) else { return };
        let lladdr = Some(RawHardwareAddress::from(self.mac));
        let message = NdiscRepr::NeighborSolicit { target_addr: address, lladdr };
        match confirm {
            Some(mac) => self.send_message(message, own, address, mac),
            None => self.send_message(message, own, solicited_node(address), group_mac(solicited_node(address))),
        }
    }

    /// Says that the stack has an address.
    fn advertise(&mut self, address: Ipv6Addr, to: Ipv6Addr, mac: EthernetAddress) {
        let mut flags = NdiscNeighborFlags::OVERRIDE;
        flags.set(NdiscNeighborFlags::SOLICITED, !to.is_multicast());
        let lladdr = Some(RawHardwareAddress::from(self.mac));
        self.send_message(NdiscRepr::NeighborAdvert { flags, target_addr: address, lladdr }, address, to, mac);
    }

    fn send_message(&mut self, message: NdiscRepr<'_>, from: Ipv6Addr, to: Ipv6Addr, mac: EthernetAddress) {
        let message = Icmpv6Repr::Ndisc(message);
        let ip = Ipv6Repr {
            src_addr: from,
            dst_addr: to,
            next_header: IpProtocol::Icmpv6,
            payload_len: message.buffer_len(),
            hop_limit: HOP_LIMIT,
        };
        let header = Ethernet { to: mac, from: self.mac, ethertype: EthernetProtocol::Ipv6 };
        self.send_whole(header, ip.buffer_len() + message.buffer_len(), |bytes| {
            // Reserved fields are 0.
            bytes.fill(0);
            ip.emit(&mut Ipv6Packet::new_unchecked(&mut *bytes));
            let mut packet = Icmpv6Packet::new_unchecked(&mut bytes[ip.buffer_len()..]);
            message.emit(&from, &to, &mut packet, &ChecksumCapabilities::default());
        });
    }
}

/// The group in which a host with this address is asked for (RFC 4291, section 2.7.1).
pub(super) fn solicited_node(address: Ipv6Addr) -> Ipv6Addr {
    const PREFIX: u128 = 0xff02_0000_0000_0000_0000_0001_ff00_0000;
    Ipv6Addr::from_bits(PREFIX | address.to_bits() & 0x00ff_ffff)
}

/// The MAC address of a group (RFC 2464, section 7).
pub(super) fn group_mac(group: Ipv6Addr) -> EthernetAddress {
    let [.., a, b, c, d] = group.octets();
    EthernetAddress([0x33, 0x33, a, b, c, d])
}
