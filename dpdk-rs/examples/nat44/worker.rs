// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A worker: it owns its queues, its flows and its share of the ports, so it needs no locks.
#![forbid(unsafe_code)]

use crate::frame::{self, End, Endpoint, Seen};
use bytemuck::NoUninit;
use dpdk_rs::{
    Burst, Clock, MacAddr, Mempool, Packet, Ring, RxQueue, Tsc, TxBuffer,
    lcore::StopToken,
    lookup::{HashReader, HashTable},
    timer::{ManageError, TimerPoll},
};
use smoltcp::wire::{ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr};
use std::{
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

/// A worker's view of one of the two ports.
pub(crate) struct Link {
    pub(crate) rx: RxQueue,
    pub(crate) tx: TxBuffer,
    pub(crate) mac: MacAddr,
    pub(crate) address: Ipv4Addr,
}

/// The inside end of a flow.
#[derive(Clone, Copy, NoUninit)]
#[repr(C)]
pub(crate) struct Inside {
    address: [u8; 4],
    port: u16,
    protocol: u16, // 8 bits and padding, which keys must not have
}

/// A flow: its outside port, and the time of its last packet.
pub(crate) struct Flow {
    port: u16,
    last: Tsc,
}

/// An address that a worker has learnt. It has 12 bytes, since elements of rings are multiples of 4.
#[repr(align(4))]
pub(crate) struct Learnt {
    pub(crate) address: Ipv4Addr,
    pub(crate) mac: MacAddr,
}

/// The counters of a worker that telemetry reports.
#[derive(Default)]
pub(crate) struct Counters {
    pub(crate) translated: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) flows: AtomicU64,
}

pub(crate) struct Worker {
    pub(crate) number: usize,
    pub(crate) inside: Link,
    pub(crate) outside: Link,
    /// Flows by their inside ends, and inside ends by protocol and outside port.
    pub(crate) flows: HashTable<Inside, Flow>,
    pub(crate) back: HashTable<[u16; 2], Inside>,
    pub(crate) free_ports: Vec<u16>,
    /// Frames for each worker, from the worker that received them: RSS does not know which worker owns an outside port.
    pub(crate) inboxes: Vec<Ring<Packet>>,
    pub(crate) neighbours: HashReader<u32, MacAddr>,
    pub(crate) learnt: Ring<Learnt>,
    pub(crate) pool: Mempool,
    pub(crate) clock: Clock,
    /// The number of cycles without a packet after which a flow ends.
    pub(crate) idle: u64,
    /// Set by a timer.
    pub(crate) is_due: Arc<AtomicBool>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) translated: u64,
    pub(crate) dropped: u64,
}

impl Worker {
    pub(crate) fn run(&mut self, mut timers: TimerPoll, stop: &StopToken) -> Result<(), ManageError> {
        let _guard = stop.stop_on_drop();
        let mut pkts = Burst::<_, 32>::new();
        while !stop.is_stopped() {
            let now = self.clock.now();
            self.inside.rx.rx(&mut pkts);
            for pkt in pkts.drain() {
                self.handle(pkt, now, Self::outward);
            }
            self.outside.rx.rx(&mut pkts);
            for pkt in pkts.drain() {
                self.handle(pkt, now, Self::inward);
            }
            self.inboxes[self.number].dequeue_burst(&mut pkts, 32);
            for pkt in pkts.drain() {
                self.handle(pkt, now, Self::inward);
            }
            self.inside.tx.drain_due(now);
            self.outside.tx.drain_due(now);
            timers.manage(now)?;
            if self.is_due.swap(false, Ordering::Relaxed) {
                self.age(now);
            }
        }
        Ok(())
    }

    fn handle(&mut self, pkt: Packet, now: Tsc, receive: fn(&mut Self, Packet, Tsc) -> Option<()>) {
        if receive(self, pkt, now).is_none() {
            self.dropped += 1;
        }
    }

    /// Handles a frame from inside; `None` if it was dropped, here and below.
    fn outward(&mut self, mut pkt: Packet, now: Tsc) -> Option<()> {
        let (protocol, source, destination) = match frame::look(pkt.data())? {
            Seen::Arp(arp) => return answer(&self.learnt, &mut self.inside, pkt, &arp),
            Seen::Ipv4 { protocol, source, destination } => (protocol, source, destination),
        };
        let key = Inside { address: source.address.octets(), port: source.port, protocol: protocol.into() };
        let port = match self.flows.get_mut(&key) {
            Some(flow) => {
                flow.last = now;
                flow.port
            }
            None => self.new_flow(key, now)?,
        };
        frame::translate(pkt.data_mut().ok()?, End::Source, Endpoint { address: self.outside.address, port })?;
        send(&self.neighbours, &self.pool, &mut self.outside, pkt, destination.address)?;
        self.translated += 1;
        Some(())
    }

    /// Handles a frame from outside.
    fn inward(&mut self, mut pkt: Packet, now: Tsc) -> Option<()> {
        let (protocol, destination) = match frame::look(pkt.data())? {
            Seen::Arp(arp) => return answer(&self.learnt, &mut self.outside, pkt, &arp),
            Seen::Ipv4 { protocol, destination, .. } => (protocol, destination),
        };
        if destination.address != self.outside.address {
            return None;
        }
        let owner = usize::from(destination.port) % self.inboxes.len();
        if owner != self.number {
            return self.inboxes[owner].enqueue(pkt).ok();
        }
        let inside = *self.back.get(&[protocol.into(), destination.port])?;
        self.flows.get_mut(&inside)?.last = now;
        let to = Endpoint { address: inside.address.into(), port: inside.port };
        frame::translate(pkt.data_mut().ok()?, End::Destination, to)?;
        send(&self.neighbours, &self.pool, &mut self.inside, pkt, to.address)?;
        self.translated += 1;
        Some(())
    }

    fn new_flow(&mut self, key: Inside, now: Tsc) -> Option<u16> {
        let port = self.free_ports.pop()?;
        // The tables have room for one flow for each port.
        self.flows.insert(key, Flow { port, last: now }).ok()?;
        self.back.insert([key.protocol, port], key).ok()?;
        Some(port)
    }

    /// Ends the flows that were idle for too long, and updates the counters.
    fn age(&mut self, now: Tsc) {
        self.flows.retain(|inside, flow| {
            let is_fresh = now.since(flow.last) <= self.idle;
            if !is_fresh {
                self.back.remove(&[inside.protocol, flow.port]);
                self.free_ports.push(flow.port);
            }
            is_fresh
        });
        self.counters.translated.store(self.translated, Ordering::Relaxed);
        self.counters.dropped.store(self.dropped, Ordering::Relaxed);
        self.counters.flows.store(self.flows.len() as u64, Ordering::Relaxed);
    }
}

/// Learns the sender of an ARP packet, and turns a request for our address into the answer.
fn answer(learnt: &Ring<Learnt>, link: &mut Link, mut pkt: Packet, arp: &ArpRepr) -> Option<()> {
    let ArpRepr::EthernetIpv4 { operation, source_hardware_addr: mac, source_protocol_addr: address, .. } = *arp else {
        return None;
    };
    // If the ring is full, the address is learnt from a later packet.
    let _ = learnt.enqueue(Learnt { address, mac: MacAddr(mac.0) });
    let asked =
        matches!(*arp, ArpRepr::EthernetIpv4 { target_protocol_addr, .. } if target_protocol_addr == link.address);
    if operation != ArpOperation::Request || !asked {
        return Some(());
    }
    write_arp(pkt.data_mut().ok()?, link, ArpOperation::Reply, mac, address);
    link.tx.push(pkt);
    Some(())
}

/// Sends a frame to a neighbour. If the neighbour's MAC address is unknown, sends an ARP request instead, as routers
/// do.
fn send(
    neighbours: &HashReader<u32, MacAddr>,
    pool: &Mempool,
    link: &mut Link,
    mut pkt: Packet,
    to: Ipv4Addr,
) -> Option<()> {
    let Some(mac) = neighbours.get(&to.to_bits()) else {
        let mut question = pool.alloc()?;
        write_arp(question.append(42).ok()?, link, ArpOperation::Request, EthernetAddress::BROADCAST, to);
        link.tx.push(question);
        return None;
    };
    let mut frame = EthernetFrame::new_checked(pkt.data_mut().ok()?).ok()?;
    frame.set_src_addr(EthernetAddress(link.mac.octets()));
    frame.set_dst_addr(EthernetAddress(mac.octets()));
    link.tx.push(pkt);
    Some(())
}

/// Writes our ARP packet to a frame of 42 bytes or more.
fn write_arp(bytes: &mut [u8], link: &Link, operation: ArpOperation, mac: EthernetAddress, address: Ipv4Addr) {
    let own = EthernetAddress(link.mac.octets());
    let mut frame = EthernetFrame::new_unchecked(bytes);
    EthernetRepr { src_addr: own, dst_addr: mac, ethertype: EthernetProtocol::Arp }.emit(&mut frame);
    let arp = ArpRepr::EthernetIpv4 {
        operation,
        source_hardware_addr: own,
        source_protocol_addr: link.address,
        target_hardware_addr: mac,
        target_protocol_addr: address,
    };
    arp.emit(&mut ArpPacket::new_unchecked(frame.payload_mut()));
}
