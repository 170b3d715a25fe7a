// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Where the frames of a stack come from and go to: a queue pair of a port, or memory in tests.

use crate::ethernet::Ethernet;
use crate::ip;
use core::time::Duration;
use dpdk_rs::port::{PortInfo, RxOffloads, TxOffloads};
use dpdk_rs::{Burst, Checksum, Clock, Eal, Mempool, Packet, PortConfig, RxQueue, Tsc, TxQueue, TxRequest};
use smoltcp::wire::{EthernetProtocol, IpProtocol, TcpPacket};
use std::collections::VecDeque;

/// The maximum number of frames received at once, and of frames that wait for the device.
pub(crate) const BURST: usize = 32;

/// Moves Ethernet frames without their check sequence, and tells the time.
pub trait Wire {
    /// A frame that is owned.
    type Frame;

    /// The maximum number of frames that [`Stack::poll`](crate::Stack::poll) receives at once.
    const BURST: usize = BURST;

    /// The time since some moment. It never goes back.
    fn now(&mut self) -> Duration;

    /// The next received frame.
    fn receive(&mut self) -> Option<Self::Frame>;

    /// Whether a frame of any length can be allocated and sent.
    fn has_room(&mut self) -> bool;

    /// A new frame of `len` bytes, or `None` if there is no memory for it. The bytes are any.
    fn allocate(&mut self, len: usize) -> Option<Self::Frame>;

    /// What the device has found of the checksums of a received frame. What it has not found right, the stack verifies.
    fn verified(&self, _frame: &Self::Frame) -> Checksums {
        Checksums::default()
    }

    /// What the device writes of the checksums of the frames that it sends. The stack then leaves them out.
    fn written(&self) -> Checksums {
        Checksums::default()
    }

    /// Has the device cut TCP segments in longer IPv4 packets into packets of `mtu` bytes. Returns the maximum length of a packet
    /// that can be sent then: `mtu`, if the device does not.
    fn cut(&mut self, mtu: usize) -> usize {
        mtu
    }

    /// The bytes of a frame, or `None` if it is in several pieces.
    fn bytes(frame: &Self::Frame) -> Option<&[u8]>;

    /// The bytes of a frame from [`allocate`](Self::allocate).
    fn bytes_mut(frame: &mut Self::Frame) -> &mut [u8];

    /// Sends a frame, after [`has_room`](Self::has_room) was true. Returns whether it was accepted.
    fn send(&mut self, frame: Self::Frame) -> bool;

    /// Hands what was sent to the device, as far as it has room.
    fn flush(&mut self);
}

/// The checksums that a device looks after: those of a received frame that are right, or absent without harm, and those that
/// it writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Checksums {
    /// That of the IPv4 header. IPv6 has none.
    pub ip: bool,
    /// That of TCP or UDP.
    pub l4: bool,
}

/// As [`checksum_offloads`], and the device cuts long TCP segments into packets, if it can do all of that (TSO). The segments
/// are as long as the mbufs: give the pool a data room of 16 KB or more.
pub fn segmentation_offloads(info: &PortInfo) -> PortConfig {
    let config = checksum_offloads(info);
    if !written(info.offers_tx).l4 || !info.offers_tx.contains(TxOffloads::TCP_SEGMENTS) {
        return config;
    }
    config.tx_offloads(wanted(info.offers_tx) | TxOffloads::TCP_SEGMENTS)
}

/// What a device with these offloads writes. Virtio has none for the header of IPv4.
fn written(offloads: TxOffloads) -> Checksums {
    Checksums {
        ip: offloads.contains(TxOffloads::IPV4_CHECKSUM),
        l4: offloads.contains(TxOffloads::TCP_CHECKSUM) && offloads.contains(TxOffloads::UDP_CHECKSUM),
    }
}

/// The offloads that make a device write what it can write.
fn wanted(offered: TxOffloads) -> TxOffloads {
    let written = written(offered);
    let ip = if written.ip { TxOffloads::IPV4_CHECKSUM } else { TxOffloads::NONE };
    let l4 = if written.l4 { TxOffloads::TCP_CHECKSUM | TxOffloads::UDP_CHECKSUM } else { TxOffloads::NONE };
    ip | l4
}

const VERIFIED: [RxOffloads; 3] = [RxOffloads::IPV4_CHECKSUM, RxOffloads::TCP_CHECKSUM, RxOffloads::UDP_CHECKSUM];

/// A configuration for a port with those checksum offloads that its device has, so that a [`QueuePair`] uses them.
pub fn checksum_offloads(info: &PortInfo) -> PortConfig {
    let verified = VERIFIED.into_iter().filter(|one| info.offers_rx.contains(*one));
    PortConfig::default()
        .rx_offloads(verified.fold(RxOffloads::NONE, |all, one| all | one))
        .tx_offloads(wanted(info.offers_tx))
}

/// An RX queue and a TX queue of one port, with a pool for the frames to send.
///
/// The device verifies and writes checksums if the port is configured for it ([`checksum_offloads`]). Frames that the TX queue does not accept wait; until it accepts them, there is no room for more.
#[derive(Debug)]
pub struct QueuePair {
    /// In the order of arrival, the first one at the end.
    received: Burst<(), BURST>,
    waiting: Burst<(), BURST>,
    /// So that there is an mbuf when there is room.
    spare: Option<Packet<()>>,
    rx: RxQueue<()>,
    tx: TxQueue,
    /// What the device writes.
    written: Checksums,
    /// The device cuts longer IPv4 packets with TCP into packets of so many bytes.
    mtu: usize,
    pool: Mempool<()>,
    clock: Clock,
    start: Tsc,
}

impl QueuePair {
    /// Combines two queues, and allocates frames to send from `pool`. That may be the pool of the RX queue, if it has a few
    /// more mbufs than the two queues have descriptors.
    #[must_use]
    pub fn new(eal: &Eal, rx: RxQueue<()>, tx: TxQueue, pool: Mempool<()>) -> Self {
        let clock = Clock::new(eal);
        let spare = pool.alloc();
        let (received, waiting, written) = (Burst::new(), Burst::new(), written(tx.offloads()));
        Self { received, waiting, spare, rx, tx, written, mtu: usize::MAX, pool, clock, start: clock.now() }
    }

    /// Returns the queues. Frames that wait are dropped.
    #[must_use]
    pub fn into_queues(self) -> (RxQueue<()>, TxQueue) {
        (self.rx, self.tx)
    }
}

impl Wire for QueuePair {
    type Frame = Packet<()>;

    fn now(&mut self) -> Duration {
        let cycles = u128::from(self.clock.now().since(self.start));
        let micros = cycles * 1_000_000 / u128::from(self.clock.hz().max(1));
        Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    fn receive(&mut self) -> Option<Packet<()>> {
        if self.received.is_empty() {
            self.rx.rx(&mut self.received);
            self.received.reverse();
        }
        self.received.pop()
    }

    fn has_room(&mut self) -> bool {
        if self.waiting.remaining_capacity() == 0 {
            self.flush();
        }
        if self.spare.is_none() {
            self.spare = self.pool.alloc();
        }
        self.waiting.remaining_capacity() > 0 && self.spare.is_some()
    }

    fn allocate(&mut self, len: usize) -> Option<Packet<()>> {
        let mut packet = self.spare.take().or_else(|| self.pool.alloc())?;
        if packet.append(len).is_ok() {
            return Some(packet);
        }
        self.spare = Some(packet);
        None
    }

    fn verified(&self, frame: &Packet<()>) -> Checksums {
        // A host that shares the memory leaves checksums out: the data is as it was sent.
        let is_right = |checksum| matches!(checksum, Checksum::Good | Checksum::Absent);
        Checksums { ip: is_right(frame.ip_checksum()), l4: is_right(frame.l4_checksum()) }
    }

    fn written(&self) -> Checksums {
        self.written
    }

    fn cut(&mut self, mtu: usize) -> usize {
        if !self.written.l4 || !self.tx.offloads().contains(TxOffloads::TCP_SEGMENTS) {
            return mtu;
        }
        let Some(spare) = self.spare.take().or_else(|| self.pool.alloc()) else { return mtu };
        self.mtu = mtu;
        // With the longest Ethernet header. The length of an IP packet has 16 bits.
        let room = spare.tailroom().saturating_sub(Ethernet::len(Some(0))).min(usize::from(u16::MAX));
        self.spare = Some(spare);
        room.max(mtu)
    }

    fn bytes(frame: &Packet<()>) -> Option<&[u8]> {
        frame.is_contiguous().then(|| frame.data())
    }

    fn bytes_mut(frame: &mut Packet<()>) -> &mut [u8] {
        frame.data_mut().unwrap_or_default()
    }

    fn send(&mut self, frame: Packet<()>) -> bool {
        self.waiting.push(frame).is_ok()
    }

    fn flush(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        if self.written == Checksums::default() {
            self.tx.tx(&mut self.waiting);
            return;
        }
        let mut asking = self.tx.prepare::<(), BURST>();
        for packet in self.waiting.drain() {
            let request = tx_request(packet.data(), self.written, self.mtu);
            // The port has the offloads, and the frame is the stack's own.
            let _ = asking.push(packet, &request);
        }
        asking.send();
        self.waiting = asking.into_packets();
    }
}

/// What the device has to do with a frame of a stack: to write these checksums, and to cut a TCP segment in a packet longer than
/// `mtu`. This is for a [`Wire`] of DPDK's that is not a [`QueuePair`].
pub fn tx_request(frame: &[u8], written: Checksums, mtu: usize) -> TxRequest {
    let nothing = TxRequest::new();
    let Some((len, EthernetProtocol::Ipv4 | EthernetProtocol::Ipv6)) = Ethernet::sent(frame) else { return nothing };
    let packet = &frame[len..];
    let Some((header_len, protocol)) = ip::header(packet) else { return nothing };
    let asked = if ip::is_ipv6(packet) {
        TxRequest::ipv6(len as u8, header_len as u16)
    } else {
        let packet = TxRequest::ipv4(len as u8, header_len as u16);
        if written.ip { packet.ip_checksum() } else { packet }
    };
    match protocol {
        IpProtocol::Tcp | IpProtocol::Udp if !written.l4 => asked,
        IpProtocol::Tcp => match TcpPacket::new_checked(&packet[header_len..]) {
            Ok(tcp) if packet.len() > mtu => {
                // net_tap counts the Ethernet header as a part of the MTU, and never takes what would be longer
                // (dpdk-rs/docs/upstream/tap_tso_size.md).
                let headers = Ethernet::len(Some(0)) + header_len + usize::from(tcp.header_len());
                asked.tcp_segments(tcp.header_len(), (mtu - headers) as u16)
            }
            Ok(tcp) => asked.tcp_checksum(tcp.header_len()),
            Err(_) => nothing,
        },
        IpProtocol::Udp => asked.udp_checksum(),
        _ if ip::is_ipv6(packet) => nothing,
        _ => asked,
    }
}

/// A wire in memory, for tests of programs: the test puts frames in, takes frames out, and says what time it is.
#[derive(Debug)]
pub struct Memory {
    /// Frames for the stack.
    pub to_stack: VecDeque<Vec<u8>>,
    /// Frames that the stack has sent.
    pub from_stack: VecDeque<Vec<u8>>,
    /// The time.
    pub now: Duration,
    /// As many frames as this wait in `from_stack` at most.
    pub room: usize,
    /// Whether the checksums of all frames are somebody else's business.
    pub offloads: bool,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            to_stack: VecDeque::new(),
            from_stack: VecDeque::new(),
            now: Duration::ZERO,
            room: usize::MAX,
            offloads: false,
        }
    }
}

impl Wire for Memory {
    type Frame = Vec<u8>;

    fn now(&mut self) -> Duration {
        self.now
    }

    fn receive(&mut self) -> Option<Vec<u8>> {
        self.to_stack.pop_front()
    }

    fn has_room(&mut self) -> bool {
        self.from_stack.len() < self.room
    }

    fn allocate(&mut self, len: usize) -> Option<Vec<u8>> {
        Some(vec![0; len])
    }

    fn verified(&self, _: &Vec<u8>) -> Checksums {
        Checksums { ip: self.offloads, l4: self.offloads }
    }

    fn written(&self) -> Checksums {
        Checksums { ip: self.offloads, l4: self.offloads }
    }

    fn bytes(frame: &Vec<u8>) -> Option<&[u8]> {
        Some(frame)
    }

    fn bytes_mut(frame: &mut Vec<u8>) -> &mut [u8] {
        frame
    }

    fn send(&mut self, frame: Vec<u8>) -> bool {
        self.from_stack.push_back(frame);
        true
    }

    fn flush(&mut self) {}
}
