// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A queue pair as the network device of [smoltcp](https://docs.rs/smoltcp), a TCP/IP stack. Needs the feature `smoltcp`.
//!
//! ```no_run
//! use dpdk_rs::{Eal, EalOptions, Mempool, PortConfig, smoltcp::QueueDevice};
//! use smoltcp::{iface, time::Instant, wire::{EthernetAddress, IpAddress, IpCidr}};
//!
//! let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
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

/// The maximum number of frames received at once, and of frames that wait for the device.
const BURST: usize = 32;

/// An RX queue and a TX queue as a device for smoltcp, with a pool for the frames to send.
///
/// The stack reads received frames in place and writes frames to send into new mbufs. Only a received frame in several
/// segments is copied. Frames that the TX queue does not accept wait until the stack asks again, and until then the
/// device has no room to send.
///
/// The stack computes and verifies all checksums; no offloads are used. The maximum frame length is that of the MTU, or
/// less if the pool's mbufs have less room.
pub struct QueueDevice<P: PrivateData = ()> {
    /// In the order of arrival, the first one at the end.
    received: Burst<P, BURST>,
    rx: RxQueue<P>,
    sender: Sender<P>,
    max_frame_len: usize,
}

/// The sending half.
struct Sender<P: PrivateData> {
    /// Before the queue, since fields are dropped in this order: the queue may be the last object that keeps the EAL
    /// alive.
    waiting: Burst<P, BURST>,
    /// An mbuf for the next frame, so that an answer can always be sent when its request is taken.
    spare: Option<Packet<P>>,
    queue: TxQueue,
    pool: Mempool<P>,
    dropped: u64,
}

impl<P: PrivateData> QueueDevice<P> {
    /// Combines a queue pair into a device. Its frames have payloads of at most `mtu` bytes
    /// ([`Port::mtu`](crate::Port::mtu)); this function adds the Ethernet header, which smoltcp includes in its own
    /// figure. Frames to send are allocated from `pool`. It may be the pool of the RX queue, if that has a few mbufs
    /// more than the RX queue has descriptors.
    #[must_use]
    pub fn new(rx: RxQueue<P>, tx: TxQueue, pool: Mempool<P>, mtu: u16) -> Self {
        let spare = pool.alloc();
        let room = pool.data_room().saturating_sub(dpdk_sys::RTE_PKTMBUF_HEADROOM as usize);
        // The stack subtracts the Ethernet header.
        let max_frame_len = (usize::from(mtu) + ETHERNET_HEADER_LEN).min(room).max(ETHERNET_HEADER_LEN);
        let sender = Sender { waiting: Burst::new(), spare, queue: tx, pool, dropped: 0 };
        Self { received: Burst::new(), rx, sender, max_frame_len }
    }

    /// The number of the stack's frames that were dropped: too long for an mbuf, or rejected by the queue
    /// ([`TxQueue::rejected`]).
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.sender.dropped + self.sender.queue.rejected()
    }

    /// Returns the queues. Waiting frames are dropped.
    #[must_use]
    pub fn into_queues(self) -> (RxQueue<P>, TxQueue) {
        let Self { rx, sender: Sender { queue, .. }, .. } = self;
        (rx, queue)
    }
}

impl<P: PrivateData> Sender<P> {
    /// Whether one more frame can be sent. First tries to send the waiting frames and to allocate an mbuf.
    fn is_ready(&mut self) -> bool {
        self.queue.tx(&mut self.waiting);
        if self.spare.is_none() {
            self.spare = self.pool.alloc();
        }
        self.waiting.remaining_capacity() > 0 && self.spare.is_some()
    }

    /// Sends the frame, or adds it to the waiting frames.
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
        // The stack computes and verifies them.
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
            // Nobody may see the previous content of the mbuf.
            frame.fill(0);
            let result = f(frame);
            if let Some(packet) = spare {
                self.sender.send(packet);
            }
            return result;
        }
        // The frame is longer than `capabilities` allows, but the stack must write it somewhere.
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
