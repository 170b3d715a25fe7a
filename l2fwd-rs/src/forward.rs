// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The data path.

use crate::args::BURST_MAX;
use dpdk_rs::{Burst, Clock, MacAddr, Packet, RxQueue, Tsc, TxBuffer, TxQueue};
use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
    time::Duration,
};

const ETHERNET_HEADER_LEN: usize = 14;
const FLUSH_INTERVAL: Duration = Duration::from_micros(100);

/// The destination and source addresses of a frame.
type Macs = [u8; 12];

/// Frames on their way from one queue to another.
pub(crate) type Frames = Burst<(), BURST_MAX>;

/// What one queue pair has done since the start. Only the lcore that owns the pair writes, with plain loads and stores;
/// the main lcore may read at any time. On a cache line of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct QueueCounters {
    pub(crate) rx_packets: AtomicU64,
    pub(crate) tx_packets: AtomicU64,
    pub(crate) tx_dropped: AtomicU64,
    pub(crate) rx_short: AtomicU64,
    pub(crate) rx_polls: AtomicU64,
    pub(crate) rx_empty_polls: AtomicU64,
}

/// An RX queue, and the TX queue of the same number on the peer port.
pub(crate) struct QueuePair<'a> {
    rx: RxQueue,
    tx: TxBuffer<(), BURST_MAX>,
    burst: usize,
    update_macs: bool,
    /// As they stand in the frame: the destination, then the source.
    macs: Macs,
    counters: &'a QueueCounters,
}

/// The two addresses of a frame, if it has an Ethernet header.
#[inline(always)]
fn header(frame: &mut Packet) -> Option<&mut Macs> {
    let (header, _) = frame.data_mut().ok()?.split_first_chunk_mut::<ETHERNET_HEADER_LEN>()?;
    header.first_chunk_mut()
}

/// Not an atomic addition: this lcore is the only one that writes.
#[inline(always)]
fn add(counter: &AtomicU64, value: usize) {
    counter.store(counter.load(Relaxed) + value as u64, Relaxed);
}

impl<'a> QueuePair<'a> {
    pub(crate) fn new(
        rx: RxQueue,
        tx: TxQueue,
        tx_mac: MacAddr,
        burst: u16,
        update_macs: bool,
        counters: &'a QueueCounters,
        clock: Clock,
    ) -> Self {
        let [_, tx_port] = tx.port().get().to_be_bytes();
        let burst = usize::from(burst);
        let mut macs = [0x02, 0, 0, 0, 0, tx_port, 0, 0, 0, 0, 0, 0];
        macs[6..].copy_from_slice(&tx_mac.octets());
        Self { rx, tx: TxBuffer::new(tx, burst, FLUSH_INTERVAL, clock), burst, update_macs, macs, counters }
    }

    /// Writes the MACs into each frame, and takes out those that are too short for an Ethernet header. The frames that are
    /// kept stay in order.
    #[inline]
    fn rewrite_macs(&self, frames: &mut Frames) {
        let macs = self.macs;
        let update = self.update_macs;
        let mut runts = false;
        frames.iter().for_each(Packet::prefetch);
        for frame in &mut *frames {
            match header(frame) {
                Some(header) if update => *header = macs,
                Some(_) => (),
                None => runts = true,
            }
        }
        if runts {
            self.drop_runts(frames);
        }
    }

    #[cold]
    fn drop_runts(&self, frames: &mut Frames) {
        let before = frames.len();
        frames.retain(|frame| header(frame).is_some());
        add(&self.counters.rx_short, before - frames.len());
    }

    /// Receives one burst, and sends it or puts it into the TX buffer.
    #[inline]
    fn forward_burst(&mut self, frames: &mut Frames) {
        let received = self.rx.rx_up_to(frames, self.burst);
        add(&self.counters.rx_polls, 1);
        if received == 0 {
            add(&self.counters.rx_empty_polls, 1);
            return;
        }
        add(&self.counters.rx_packets, received);
        self.rewrite_macs(frames);
        self.tx.append(frames);
        self.publish();
    }

    /// Sends what is in the TX buffer.
    #[inline]
    fn flush_buffer(&mut self) {
        if !self.tx.is_empty() {
            self.tx.flush();
            self.publish();
        }
    }

    #[inline(always)]
    fn publish(&self) {
        self.counters.tx_packets.store(self.tx.sent(), Relaxed);
        self.counters.tx_dropped.store(self.tx.dropped(), Relaxed);
    }

    /// Frames in the TX buffer.
    pub(crate) fn buffered(&self) -> usize {
        self.tx.len()
    }
}

/// Forwards until the stop flag is set. `periodic` is called every 100 µs.
pub(crate) fn forward_loop(
    pairs: &mut [QueuePair<'_>],
    stop: &AtomicBool,
    clock: Clock,
    mut periodic: impl FnMut(Tsc),
) {
    let interval = clock.cycles(FLUSH_INTERVAL);
    let mut frames = Frames::new();
    let mut last = clock.now();
    while !stop.load(Relaxed) {
        let now = clock.now();
        if now.since(last) >= interval {
            pairs.iter_mut().for_each(QueuePair::flush_buffer);
            periodic(now);
            last = now;
        }
        if pairs.is_empty() {
            // An idle lcore leaves its core to others, but must still see the flag soon.
            thread::sleep(Duration::from_millis(1));
        }
        for pair in &mut *pairs {
            pair.forward_burst(&mut frames);
        }
    }
    pairs.iter_mut().for_each(QueuePair::flush_buffer);
}
