// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A queue pair as the network device of [smoltcp](https://docs.rs/smoltcp), a TCP/IP stack. Needs the feature `smoltcp`.
//!
//! ```no_run
//! use dpdk_rs::{Eal, Mempool, PortConfig, smoltcp::QueueDevice};
//! use smoltcp::{iface, time::Instant, wire::{EthernetAddress, IpAddress, IpCidr}};
//!
//! let (eal, _args) = Eal::init(std::env::args())?;
//! let pool: Mempool = Mempool::builder("pool").build(&eal)?;
//! let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
//! let (port, mut rx, mut tx) = port.configure(&PortConfig::default(), &pool)?.start()?;
//! let mut device = QueueDevice::new(rx.remove(0), tx.remove(0), pool, port.mtu()?);
//!
//! let address = EthernetAddress(port.mac_addr()?.octets());
//! let mut interface = iface::Interface::new(iface::Config::new(address.into()), &mut device, Instant::now());
//! interface.update_ip_addrs(|addresses| {
//!     let _ = addresses.push(IpCidr::new(IpAddress::v4(192, 0, 2, 1), 24)); // room for one is always there
//! });
//! let mut sockets = iface::SocketSet::new(Vec::new());
//! loop {
//!     interface.poll(Instant::now(), &mut device, &mut sockets);
//!     // … the sockets' turn …
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{Burst, Mempool, Packet, PrivateData, RxQueue, TxQueue};
use ::smoltcp::{
    phy::{self, ChecksumCapabilities, DeviceCapabilities, Medium},
    time::Instant,
    wire::ETHERNET_HEADER_LEN,
};
use core::fmt;

/// Frames that are received at once, and those that wait for the device at most.
const BURST: usize = 32;

/// An RX queue and a TX queue as a device for smoltcp, with a pool for the frames that it sends.
///
/// The stack reads received frames where the device has put them, and writes those that it sends into fresh mbufs: nothing
/// is copied, except a received frame that lies in several segments. What the TX queue does not take waits, and is tried
/// again whenever the stack asks; meanwhile the device has no room to send.
///
/// The stack computes and verifies all checksums: of offloads a queue says nothing. The largest frame is that of the MTU, or
/// shorter if the pool's mbufs have less room.
pub struct QueueDevice<P: PrivateData = ()> {
    /// In the order of their arrival, the first at the end.
    received: Burst<P, BURST>,
    rx: RxQueue<P>,
    sender: Sender<P>,
    max_frame_len: usize,
}

/// The half that sends.
struct Sender<P: PrivateData> {
    /// Before the queue, since fields are dropped in this order: the queue may be the last that keeps the EAL.
    waiting: Burst<P, BURST>,
    /// An mbuf for the next frame, so that an answer can be sent whenever the frame is taken that asks for it.
    spare: Option<Packet<P>>,
    queue: TxQueue,
    pool: Mempool<P>,
    dropped: u64,
}

impl<P: PrivateData> QueueDevice<P> {
    /// Joins a queue pair, whose frames have payloads of at most `mtu` bytes ([`Port::mtu`](crate::Port::mtu)): the Ethernet
    /// header, which smoltcp's own figure includes, is added here. The frames to be sent are taken from `pool`, which may be
    /// that of the RX queue if it has a few mbufs more than the RX queue has descriptors.
    #[must_use]
    pub fn new(rx: RxQueue<P>, tx: TxQueue, pool: Mempool<P>, mtu: u16) -> Self {
        let spare = pool.alloc();
        let room = pool.data_room().saturating_sub(dpdk_sys::RTE_PKTMBUF_HEADROOM as usize);
        // The stack subtracts the header.
        let max_frame_len = (usize::from(mtu) + ETHERNET_HEADER_LEN).min(room).max(ETHERNET_HEADER_LEN);
        let sender = Sender { waiting: Burst::new(), spare, queue: tx, pool, dropped: 0 };
        Self { received: Burst::new(), rx, sender, max_frame_len }
    }

    /// How many frames of the stack were dropped: longer than an mbuf has room for, or rejected by the queue
    /// ([`TxQueue::rejected`]).
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.sender.dropped + self.sender.queue.rejected()
    }

    /// Gives the queues back. Frames that wait in between are dropped.
    #[must_use]
    pub fn into_queues(self) -> (RxQueue<P>, TxQueue) {
        let Self { rx, sender: Sender { queue, .. }, .. } = self;
        (rx, queue)
    }
}

impl<P: PrivateData> Sender<P> {
    /// Whether one more frame can be sent, after a try to send those that wait, and to have an mbuf for it.
    fn is_ready(&mut self) -> bool {
        self.queue.tx(&mut self.waiting);
        if self.spare.is_none() {
            self.spare = self.pool.alloc();
        }
        self.waiting.remaining_capacity() > 0 && self.spare.is_some()
    }

    /// Sends the frame, or puts it behind those that wait.
    fn send(&mut self, packet: Packet<P>) {
        if self.waiting.push(packet).is_err() {
            self.dropped += 1;
        }
        self.queue.tx(&mut self.waiting);
    }
}

impl<P: PrivateData> phy::Device for QueueDevice<P> {
    type RxToken<'a> = RxToken<P>;
    type TxToken<'a> = TxToken<'a, P>;

    fn receive(&mut self, _timestamp: Instant) -> Option<(Self::RxToken<'_>, Self::TxToken<'_>)> {
        if !self.sender.is_ready() {
            return None;
        }
        if self.received.is_empty() {
            self.rx.rx(&mut self.received);
            self.received.reverse();
        }
        let packet = self.received.pop()?;
        Some((RxToken { packet }, TxToken { sender: &mut self.sender }))
    }

    fn transmit(&mut self, _timestamp: Instant) -> Option<Self::TxToken<'_>> {
        self.sender.is_ready().then_some(TxToken { sender: &mut self.sender })
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ethernet;
        capabilities.max_transmission_unit = self.max_frame_len;
        // Computed and verified by the stack.
        capabilities.checksum = ChecksumCapabilities::default();
        capabilities
    }
}

impl<P: PrivateData> fmt::Debug for QueueDevice<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("QueueDevice")
            .field("rx", &self.rx)
            .field("tx", &self.sender.queue)
            .field("dropped", &self.dropped())
            .finish_non_exhaustive()
    }
}

/// A received frame, for the stack to read.
#[derive(Debug)]
pub struct RxToken<P: PrivateData = ()> {
    packet: Packet<P>,
}

impl<P: PrivateData> phy::RxToken for RxToken<P> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        if self.packet.is_contiguous() {
            return f(self.packet.data());
        }
        let mut frame = vec![0; self.packet.len()];
        self.packet.copy_to(&mut frame);
        f(&frame)
    }
}

/// Room for one frame to be sent.
pub struct TxToken<'a, P: PrivateData = ()> {
    sender: &'a mut Sender<P>,
}

impl<P: PrivateData> phy::TxToken for TxToken<'_, P> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut spare = self.sender.spare.take();
        if let Some(frame) = spare.as_mut().and_then(|packet| packet.append(len).ok()) {
            // What the mbuf held before is nobody else's to read.
            frame.fill(0);
            let result = f(frame);
            if let Some(packet) = spare {
                self.sender.send(packet);
            }
            return result;
        }
        // Longer than any frame that `capabilities` allows. The stack has to write it somewhere.
        self.sender.spare = spare;
        self.sender.dropped += 1;
        f(&mut vec![0; len])
    }
}

impl<P: PrivateData> fmt::Debug for TxToken<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TxToken").field("queue", &self.sender.queue).finish_non_exhaustive()
    }
}
