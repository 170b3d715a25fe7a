// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Ethernet, ARP and neighbor discovery: sends IP packets to hosts of the stack's networks and to gateways.

mod arp;
mod neighbor_discovery;
mod neighbors;
mod routes;

use crate::checksum;
use crate::config::Config;
use crate::ethernet::Ethernet;
use crate::ip;
use crate::time::Time;
use crate::watch::capture::{self, Capture};
use crate::wire::{Checksums, Wire};
use core::net::{IpAddr, Ipv6Addr};
use neighbors::{Neighbors, Verdict};
pub(crate) use routes::Routes;
use smoltcp::wire::{EthernetAddress, EthernetProtocol};

/// Where a packet goes first.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hop {
    /// Back where a frame came from.
    Mac(EthernetAddress),
    /// To a host of the network, whose address is resolved.
    Host(IpAddr),
    /// It is not sent.
    Nowhere,
}

/// A host, and the MAC address that it says it has.
pub(crate) type Neighbor = (IpAddr, EthernetAddress);

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
    /// The checksums that the device writes.
    written: Checksums,
    routes: Routes,
    neighbors: Neighbors<W::Frame>,
    /// Addresses that the stack wants, and until when another host can say that it has them.
    tentative: Vec<(Ipv6Addr, Time)>,
    /// Those that another host has.
    duplicates: Vec<Ipv6Addr>,
    counters: LinkCounters,
    pub(crate) captures: Vec<Capture>,
}

impl<W: Wire> Link<W> {
    pub(crate) fn new(wire: W, config: &Config) -> Self {
        Self {
            written: wire.written(),
            wire,
            now: Time::ZERO,
            mac: EthernetAddress(config.mac.0),
            vlan: config.vlan,
            routes: Routes::new(config.all_addresses(), config.routes.clone()),
            neighbors: Neighbors::default(),
            tentative: Vec::new(),
            duplicates: Vec::new(),
            counters: LinkCounters::default(),
            captures: Vec::new(),
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

    pub(crate) const fn routes(&self) -> &Routes {
        &self.routes
    }

    pub(crate) const fn counters(&self) -> LinkCounters {
        self.counters
    }

    /// Sends an IP packet of `len` bytes, which `write` writes but for the checksums of IPv4, TCP and UDP. There must be room.
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
        checksum::write(packet, self.written);
        if !self.captures.is_empty() {
            capture::sent(&mut self.captures, packet, self.now);
        }
        match hop {
            Hop::Mac(mac) => self.send_to(frame, mac),
            Hop::Host(address) => self.resolve(frame, address),
            Hop::Nowhere => (),
        }
        result
    }

    /// Sends what another part of the host has to say, an IP packet or an ARP packet. There must be room.
    pub(crate) fn transmit_frame(&mut self, header: Ethernet, payload: &[u8]) {
        if header.ethertype != EthernetProtocol::Arp {
            return self.transmit(payload.len(), Hop::Mac(header.to), |packet| packet.copy_from_slice(payload));
        }
        self.send_whole(header, payload.len(), |bytes| bytes.copy_from_slice(payload));
    }

    /// Sends a frame with `len` bytes after its header, which `write` writes wholly, checksums too.
    fn send_whole(&mut self, header: Ethernet, len: usize, write: impl FnOnce(&mut [u8])) {
        let header_len = Ethernet::len(self.vlan);
        let Some(mut frame) = self.wire.allocate(header_len + len) else {
            self.counters.dropped += 1;
            return;
        };
        let bytes = W::bytes_mut(&mut frame);
        header.emit(bytes, self.vlan);
        write(&mut bytes[header_len..]);
        self.send(frame);
    }

    /// The stack has these addresses and routes from now on.
    pub(crate) fn set_routes(&mut self, routes: Routes) {
        self.routes = routes;
    }

    fn resolve(&mut self, frame: W::Frame, address: IpAddr) {
        let now = self.now;
        let (verdict, dropped) = self.neighbors.send(address, frame, now);
        self.counters.unresolved += u64::from(dropped);
        match verdict {
            Verdict::Send(frame, mac) => self.send_to(frame, mac),
            Verdict::Confirm(frame, mac) => {
                self.send_to(frame, mac);
                self.ask(address, Some(mac));
            }
            Verdict::Ask => self.ask(address, None),
            Verdict::Wait => (),
        }
    }

    fn send_to(&mut self, mut frame: W::Frame, mac: EthernetAddress) {
        let bytes = W::bytes_mut(&mut frame);
        let is_ipv6 = ip::is_ipv6(&bytes[Ethernet::len(self.vlan)..]);
        let ethertype = if is_ipv6 { EthernetProtocol::Ipv6 } else { EthernetProtocol::Ipv4 };
        Ethernet { to: mac, from: self.mac, ethertype }.emit(bytes, self.vlan);
        self.send(frame);
    }

    fn send(&mut self, frame: W::Frame) {
        if !self.wire.has_room() || !self.wire.send(frame) {
            self.counters.dropped += 1;
        }
    }

    /// A host has said which MAC address it has: what waits for it is sent.
    pub(crate) fn heard(&mut self, (address, mac): Neighbor) {
        let now = self.now;
        for frame in self.neighbors.heard(address, mac, now) {
            self.send_to(frame, mac);
        }
    }

    /// Asks who has an address: all, or the host that had it.
    fn ask(&mut self, address: IpAddr, confirm: Option<EthernetAddress>) {
        match address {
            IpAddr::V4(address) => self.ask_by_arp(address, confirm),
            IpAddr::V6(address) => self.ask_by_neighbor_discovery(address, confirm),
        }
    }

    /// Asks again for hosts that have not answered. Returns those that never did.
    pub(crate) fn maintain(&mut self, now: Time) -> Vec<IpAddr> {
        let (ask, gone, dropped) = self.neighbors.maintain(now);
        self.counters.unresolved += dropped;
        for address in ask {
            self.ask(address, None);
        }
        gone
    }
}
