// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! ARP (RFC 826): which IPv4 host has which MAC address.

use super::{Link, Neighbor};
use crate::ethernet::Ethernet;
use crate::wire::Wire;
use core::net::{IpAddr, Ipv4Addr};
use smoltcp::wire::{ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetProtocol};

impl<W: Wire> Link<W> {
    /// Handles a received packet. Returns what its sender says of itself.
    pub(crate) fn arp(&mut self, bytes: &[u8]) -> Option<Neighbor> {
        let packet = ArpPacket::new_checked(bytes).ok()?;
        let Ok(ArpRepr::EthernetIpv4 {
            operation,
            source_hardware_addr: mac,
            source_protocol_addr: address,
            target_protocol_addr: target,
            ..
        }) = ArpRepr::parse(&packet)
        else {
            return None;
        };
        // Nobody else has an address of the stack, and a host that asks for its own address learns nothing of it.
        if !mac.is_unicast() || self.routes.is_own(address.into()) || matches!(operation, ArpOperation::Unknown(_)) {
            return None;
        }
        let neighbor = (address.into(), mac);
        self.heard(neighbor);
        if operation == ArpOperation::Request && self.routes.is_own(target.into()) {
            self.send_arp(ArpOperation::Reply, target, mac, (mac, address));
        }
        Some(neighbor)
    }

    /// Asks a host, or all, who has an address.
    pub(super) fn ask_by_arp(&mut self, address: Ipv4Addr, confirm: Option<EthernetAddress>) {
        if let Some(IpAddr::V4(own)) = self.routes.source(address.into()) {
            let to = confirm.unwrap_or(EthernetAddress::BROADCAST);
            self.send_arp(ArpOperation::Request, own, to, (EthernetAddress([0; 6]), address));
        }
    }

    fn send_arp(
        &mut self,
        operation: ArpOperation,
        own: Ipv4Addr,
        to: EthernetAddress,
        (mac, address): (EthernetAddress, Ipv4Addr),
    ) {
        let arp = ArpRepr::EthernetIpv4 {
            operation,
            source_hardware_addr: self.mac,
            source_protocol_addr: own,
            target_hardware_addr: mac,
            target_protocol_addr: address,
        };
        let header = Ethernet { to, from: self.mac, ethertype: EthernetProtocol::Arp };
        self.send_whole(header, arp.buffer_len(), |bytes| arp.emit(&mut ArpPacket::new_unchecked(bytes)));
    }
}
