// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Ethernet and ARP: sends IPv4 packets to hosts of the network and to the gateway.

mod ethernet;
mod neighbors;

use crate::checksum;
use crate::config::Config;
use crate::time::Time;
use crate::wire::Wire;
use core::net::Ipv4Addr;
pub(crate) use ethernet::Ethernet;
use neighbors::{Neighbors, Verdict};
use smoltcp::wire::{ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetProtocol, Ipv4Cidr};

/// Where a packet goes first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hop {
    /// Back where a frame came from.
    Mac(EthernetAddress),
    /// To a host of the network, whose address is resolved.
    Host(Ipv4Addr),
    /// It is not sent.
    Nowhere,
}

/// What the link has counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkCounters {
    /// Packets that were dropped since their next hop did not answer, or since too many waited for it.
    pub(crate) unresolved: u64,
    /// Frames that were dropped since there was no mbuf, or since the wire took none after all.
    pub(crate) dropped: u64,
}

pub(crate) struct Link<W: Wire> {
    pub(crate) wire: W,
    now: Time,
    mac: EthernetAddress,
    vlan: Option<u16>,
    /// Whether the device writes checksums.
    writes_checksums: bool,
    network: Ipv4Cidr,
    gateway: Option<Ipv4Addr>,
    neighbors: Neighbors<W::Frame>,
    counters: LinkCounters,
}

impl<W: Wire> Link<W> {
    pub(crate) fn new(wire: W, config: &Config, network: Ipv4Cidr) -> Self {
        Self {
            writes_checksums: wire.writes_checksums(),
            wire,
            now: Time::ZERO,
            mac: EthernetAddress(config.mac.0),
            vlan: config.vlan,
            network,
            gateway: config.gateway,
            neighbors: Neighbors::default(),
            counters: LinkCounters::default(),
        }
    }

    /// The time as it was read last.
    pub(crate) const fn now(&self) -> Time {
        self.now
    }

    /// Reads the time.
    pub(crate) fn read_clock(&mut self) -> Time {
        self.now = self.wire.now().into();
        self.now
    }

    pub(crate) const fn mac(&self) -> EthernetAddress {
        self.mac
    }

    pub(crate) const fn vlan(&self) -> Option<u16> {
        self.vlan
    }

    pub(crate) const fn address(&self) -> Ipv4Addr {
        self.network.address()
    }

    pub(crate) const fn counters(&self) -> LinkCounters {
        self.counters
    }

    /// Where packets for `address` go first, if there is a way.
    pub(crate) fn hop(&self, address: Ipv4Addr) -> Option<Ipv4Addr> {
        if self.network.contains_addr(&address) { Some(address) } else { self.gateway }
    }

    /// Sends an IPv4 packet of `len` bytes, which `write` writes but for the checksums of IPv4, TCP and UDP. There must be room.
    pub(crate) fn transmit<R>(&mut self, len: usize, hop: Hop, write: impl FnOnce(&mut [u8]) -> R) -> R {
        if matches!(hop, Hop::Nowhere) {
            return write(&mut vec![0; len]);
        }
        let header = Ethernet::len(self.vlan);
        let Some(mut frame) = self.wire.allocate(header + len) else {
            self.counters.dropped += 1;
            return write(&mut vec![0; len]);
        };
        let bytes = W::bytes_mut(&mut frame);
        let packet = &mut bytes[header..];
        let result = write(packet);
        if !self.writes_checksums {
            checksum::write(packet);
        }
        match hop {
            Hop::Mac(mac) => self.send_to(frame, mac),
            Hop::Host(address) => self.resolve(frame, address),
            Hop::Nowhere => (),
        }
        result
    }

    fn resolve(&mut self, frame: W::Frame, address: Ipv4Addr) {
        let now = self.now;
        let (verdict, dropped) = self.neighbors.send(address, frame, now);
        self.counters.unresolved += u64::from(dropped);
        match verdict {
            Verdict::Send(frame, mac) => self.send_to(frame, mac),
            Verdict::Confirm(frame, mac) => {
                self.send_to(frame, mac);
                self.ask(address, mac);
            }
            Verdict::Ask => self.ask(address, EthernetAddress::BROADCAST),
            Verdict::Wait => (),
        }
    }

    fn send_to(&mut self, mut frame: W::Frame, mac: EthernetAddress) {
        let header = Ethernet { to: mac, from: self.mac, ethertype: EthernetProtocol::Ipv4 };
        header.emit(W::bytes_mut(&mut frame), self.vlan);
        self.send(frame);
    }

    fn send(&mut self, frame: W::Frame) {
        if !self.wire.has_room() || !self.wire.send(frame) {
            self.counters.dropped += 1;
        }
    }

    /// Handles a received ARP packet (RFC 826).
    pub(crate) fn arp(&mut self, bytes: &[u8]) {
        let Ok(packet) = ArpPacket::new_checked(bytes) else { return };
        let Ok(ArpRepr::EthernetIpv4 {
            operation,
            source_hardware_addr: mac,
            source_protocol_addr: address,
            target_protocol_addr,
            ..
        }) = ArpRepr::parse(&packet)
        else {
            return;
        };
        // Nobody else's address is ours, and a host that asks for its own address learns nothing of us.
        if !mac.is_unicast() || address == self.address() {
            return;
        }
        let now = self.now;
        for frame in self.neighbors.heard(address, mac, now) {
            self.send_to(frame, mac);
        }
        if operation == ArpOperation::Request && target_protocol_addr == self.address() {
            self.arp_packet(ArpOperation::Reply, mac, mac, address);
        }
    }

    fn ask(&mut self, address: Ipv4Addr, mac: EthernetAddress) {
        self.arp_packet(ArpOperation::Request, mac, EthernetAddress([0; 6]), address);
    }

    fn arp_packet(&mut self, operation: ArpOperation, to: EthernetAddress, mac: EthernetAddress, address: Ipv4Addr) {
        let arp = ArpRepr::EthernetIpv4 {
            operation,
            source_hardware_addr: self.mac,
            source_protocol_addr: self.address(),
            target_hardware_addr: mac,
            target_protocol_addr: address,
        };
        let header = Ethernet::len(self.vlan);
        let Some(mut frame) = self.wire.allocate(header + arp.buffer_len()) else {
            self.counters.dropped += 1;
            return;
        };
        let bytes = W::bytes_mut(&mut frame);
        Ethernet { to, from: self.mac, ethertype: EthernetProtocol::Arp }.emit(bytes, self.vlan);
        arp.emit(&mut ArpPacket::new_unchecked(&mut bytes[header..]));
        self.send(frame);
    }

    /// Asks again for hosts that have not answered. Returns those that never did.
    pub(crate) fn maintain(&mut self, now: Time) -> Vec<Ipv4Addr> {
        let (ask, gone, dropped) = self.neighbors.maintain(now);
        self.counters.unresolved += dropped;
        for address in ask {
            self.ask(address, EthernetAddress::BROADCAST);
        }
        gone
    }
}
