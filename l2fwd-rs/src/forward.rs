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

/// The destination and source addresses as they stand in a frame: its first 8 bytes, and the 4 behind them.
struct Macs {
    first: u64,
    last: u32,
}

impl Macs {
    fn new(destination: [u8; 6], source: [u8; 6]) -> Self {
        let [d0, d1, d2, d3, d4, d5] = destination;
        let [s0, s1, s2, s3, s4, s5] = source;
        Self { first: u64::from_ne_bytes([d0, d1, d2, d3, d4, d5, s0, s1]), last: u32::from_ne_bytes([s2, s3, s4, s5]) }
    }
}

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
    macs: Macs,
    counters: &'a QueueCounters,
}

/// The Ethernet header of a frame, if it is long enough for one.
#[inline(always)]
fn header(frame: &mut Packet) -> Option<&mut [u8; ETHERNET_HEADER_LEN]> {
    frame.data_mut().ok()?.first_chunk_mut()
}

/// Two stores.
#[inline(always)]
fn write_macs(header: &mut [u8; ETHERNET_HEADER_LEN], first: u64, last: u32) {
    header[..8].copy_from_slice(&first.to_ne_bytes());
    header[8..12].copy_from_slice(&last.to_ne_bytes());
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
        Self {
            rx,
            tx: TxBuffer::new(tx, burst, FLUSH_INTERVAL, clock),
            burst,
            update_macs,
            macs: Macs::new([0x02, 0, 0, 0, 0, tx_port], tx_mac.octets()),
            counters,
        }
    }

    /// Writes the MACs into each frame, and takes out those that are too short for an Ethernet header. The frames that are
    /// kept stay in order.
    #[inline]
    fn rewrite_macs(&self, frames: &mut Frames) {
        frames.iter().for_each(Packet::prefetch);
        let headers = frames.iter_mut().filter_map(header);
        // Copies, which stay in registers.
        let Macs { first, last } = self.macs;
        let long_enough = if self.update_macs {
            headers.map(|header| write_macs(header, first, last)).count()
        } else {
            headers.count()
        };
        if long_enough < frames.len() {
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
    pub(crate) fn forward_burst(&mut self, frames: &mut Frames) {
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
    pub(crate) fn flush_buffer(&mut self) {
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
/// A function of its own in the program, which the testbed looks for when it counts instructions.
#[inline(never)]
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
