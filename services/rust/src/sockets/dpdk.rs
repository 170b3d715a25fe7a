// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! dpdk-sockets, on the first port of the EAL.

use super::{Event, Received, Sockets};
use core::net::SocketAddr;
use core::time::Duration;
use dpdk_rs::{Eal, Mempool};
use dpdk_sockets::watch::Telemetry;
use dpdk_sockets::wire::{QueuePair, segmentation_offloads};
use dpdk_sockets::{Config, ConnectionId, IpNet, ListenerId, Stack};
use slotmap::Key as _;
use std::error::Error;
use std::io;

/// For full queues, and segments that the device cuts.
const MBUFS: u32 = 4_095;
const DATA_ROOM: u16 = 16_384;

/// A stack, and its listener.
#[derive(Debug)]
pub struct Dpdk {
    stack: Stack<QueuePair>,
    /// If there is one, until it is closed.
    listener: Option<ListenerId>,
    _telemetry: Telemetry,
}

impl Dpdk {
    /// Starts the first port with this address, to connect to others.
    ///
    /// # Errors
    ///
    /// What DPDK or the stack says.
    pub fn new(eal: &Eal, address: IpNet) -> Result<Self, Box<dyn Error>> {
        let device = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
        let pool: Mempool = Mempool::builder("services").size(MBUFS).data_room(DATA_ROOM).build(eal)?;
        let offloads = segmentation_offloads(&device.info()?);
        let (device, mut rx, mut tx) = device.configure(&offloads, &pool)?.start()?;
        // Neighbor discovery asks a group for an IPv6 address. A device without a filter refuses, and receives all frames.
        let _ = device.set_allmulticast(true);
        let config = Config::new(device.mac_addr()?, address);
        let mut stack = Stack::new(QueuePair::new(eal, rx.remove(0), tx.remove(0), pool), config)?;
        let telemetry = Telemetry::register(eal)?;
        telemetry.add("service", &mut stack)?;
        Ok(Self { stack, listener: None, _telemetry: telemetry })
    }

    /// Starts the first port, and listens at an address on it.
    ///
    /// # Errors
    ///
    /// As of [`new`](Self::new).
    pub fn listen(eal: &Eal, address: IpNet, port: u16) -> Result<Self, Box<dyn Error>> {
        let mut sockets = Self::new(eal, address)?;
        sockets.listener = Some(sockets.stack.listen(port)?);
        Ok(sockets)
    }
}

impl Sockets for Dpdk {
    type Id = ConnectionId;

    /// The lower half of a key of the stack's slot map is its index.
    fn place(id: ConnectionId) -> usize {
        id.data().as_ffi() as u32 as usize
    }

    fn poll(&mut self, events: &mut Vec<Event<ConnectionId>>, _: Duration) -> io::Result<()> {
        self.stack.poll();
        while let Some(event) = self.stack.next_event() {
            let event = match event {
                dpdk_sockets::Event::Accepted(_, id) => Event::Accepted(id),
                dpdk_sockets::Event::Connected(id) => Event::Connected(id),
                // The end of a connection is found by reading.
                dpdk_sockets::Event::Readable(id)
                | dpdk_sockets::Event::Writable(id)
                | dpdk_sockets::Event::Ended(id, _) => Event::Ready(id),
                _ => continue,
            };
            // Mostly one follows the other. Whoever takes the first has no use for the second.
            let is_known = match (events.last(), event) {
                (Some(Event::Ready(last) | Event::Connected(last)), Event::Ready(id)) => *last == id,
                _ => false,
            };
            if !is_known {
                events.push(event);
            }
        }
        Ok(())
    }

    fn connect(&mut self, to: SocketAddr) -> Option<ConnectionId> {
        self.stack.connect(to).ok()
    }

    fn receive(&mut self, id: ConnectionId, bytes: &mut [u8]) -> Received {
        match self.stack.recv(id, bytes) {
            Ok(Some(0)) => Received::End,
            Ok(Some(len)) => Received::Bytes(len),
            Ok(None) => Received::Nothing,
            Err(_) => Received::Broken,
        }
    }

    fn send(&mut self, id: ConnectionId, bytes: &[u8]) -> Option<usize> {
        self.stack.send(id, bytes).ok()
    }

    fn shutdown(&mut self, id: ConnectionId) {
        let _ = self.stack.shutdown(id); // one that is broken is closed soon
    }

    fn close(&mut self, id: ConnectionId) {
        let _ = self.stack.close(id); // it was open
    }

    fn abort(&mut self, id: ConnectionId) {
        let _ = self.stack.abort(id); // it was open
    }

    fn stop_listening(&mut self) {
        if let Some(listener) = self.listener.take() {
            self.stack.close_listener(listener);
        }
    }
}
