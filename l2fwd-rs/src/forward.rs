// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The data path.

#[cfg(feature = "rewrite")]
use crate::rewrite::{Rewrite, Rewriter};
use crate::{args::BURST_MAX, idle::Idle};
use dpdk_rs::{Burst, Clock, MacAddr, Packet, RxQueue, Tsc, TxBuffer, TxQueue};
use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
    time::Duration,
};

const ETHERNET_HEADER_LEN: usize = 14;
const FLUSH_INTERVAL: Duration = Duration::from_micros(100);
/// Rounds over the queue pairs before the loop looks at the clock and the stop flag again.
const ROUNDS: u32 = 8;
/// Frames for each time that the loop over a burst counts and jumps.
const GROUP: usize = 4;

/// The destination and source addresses as they stand in a frame: its first 8 bytes, and the 4 behind them.
#[derive(Clone, Copy)]
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

    /// Two stores.
    #[inline(always)]
    fn write(self, header: &mut Header) {
        header[..8].copy_from_slice(&self.first.to_ne_bytes());
        header[8..12].copy_from_slice(&self.last.to_ne_bytes());
    }
}

/// Frames on their way from one queue to another.
type Frames = Burst<(), BURST_MAX>;

/// What one queue pair has done since the start, as its lcore has last published it; the main lcore may read at any time.
/// On a cache line of its own.
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

/// What only the lcore sees that owns the pair.
struct QueueCounts {
    rx_packets: u64,
    /// Until the ports were last reset. Since then the TX buffer counts, as it does what is dropped.
    tx_packets: u64,
    tx_dropped: u64,
    rx_short: u64,
    rx_polls: u64,
    rx_empty_polls: u64,
}

impl QueueCounts {
    /// Goes on from what was published last: nothing at the start, all counts when the ports are reset.
    fn after(counters: &QueueCounters) -> Self {
        Self {
            rx_packets: counters.rx_packets.load(Relaxed),
            tx_packets: counters.tx_packets.load(Relaxed),
            tx_dropped: counters.tx_dropped.load(Relaxed),
            rx_short: counters.rx_short.load(Relaxed),
            rx_polls: counters.rx_polls.load(Relaxed),
            rx_empty_polls: counters.rx_empty_polls.load(Relaxed),
        }
    }
}

/// An RX queue, and the TX queue of the same number on the peer port.
pub(crate) struct QueuePair<'a> {
    rx: RxQueue,
    tx: TxBuffer<(), BURST_MAX>,
    burst: usize,
    update_macs: bool,
    macs: Macs,
    counts: QueueCounts,
    counters: &'a QueueCounters,
    #[cfg(feature = "rewrite")]
    rewriter: Option<Rewriter>,
}

type Header = [u8; ETHERNET_HEADER_LEN];

/// The Ethernet header of a frame, if it is long enough for one.
#[inline(always)]
fn header(frame: &mut Packet) -> Option<&mut Header> {
    frame.data_mut().ok()?.first_chunk_mut()
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
            counts: QueueCounts::after(counters),
            counters,
            #[cfg(feature = "rewrite")]
            rewriter: None,
        }
    }

    /// With a parser that writes the addresses in place of this program.
    #[cfg(feature = "rewrite")]
    pub(crate) fn rewriting(mut self, rewrite: Option<Rewrite>) -> Self {
        let mut header = Header::default();
        self.macs.write(&mut header);
        let [destination @ .., _, _, _, _, _, _, _, _] = header;
        let [_, _, _, _, _, _, source @ .., _, _] = header;
        self.rewriter = Rewriter::new(rewrite, destination, source);
        self
    }

    /// As `rewrite_macs`, or what the parser does. `None` if that has rejected a frame, which may be too short.
    #[cfg(feature = "rewrite")]
    #[inline(always)]
    fn rewrite(&mut self, frames: &mut [Packet]) -> Option<()> {
        match &mut self.rewriter {
            Some(rewriter) => rewriter.rewrite(frames),
            None => self.rewrite_macs(frames),
        }
    }

    /// Frames that the parser has rejected; `None` if there is no parser.
    #[cfg(feature = "rewrite")]
    pub(crate) fn rejected(&self) -> Option<u64> {
        self.rewriter.as_ref().map(Rewriter::rejected)
    }

    /// Writes the MACs into each frame. `None` as soon as a frame is too short for an Ethernet header: then some are written.
    #[inline(always)]
    fn rewrite_macs(&self, frames: &mut [Packet]) -> Option<()> {
        #[cfg(feature = "rewrite")]
        if self.rewriter.is_some() {
            return Some(());
        }
        if !self.update_macs {
            return frames.iter_mut().all(|frame| header(frame).is_some()).then_some(());
        }
        // Copies, which stay in registers. No header is fetched into the cache ahead: nothing waits for what is only written.
        let macs = self.macs;
        let (rest, groups) = frames.as_rchunks_mut::<GROUP>();
        for frame in rest {
            macs.write(header(frame)?);
        }
        for group in groups {
            for frame in group {
                macs.write(header(frame)?);
            }
        }
        Some(())
    }

    /// Drops the frames that are too short for an Ethernet header, and writes the MACs into the others, which stay in order.
    #[cold]
    #[inline(never)]
    fn drop_runts(&mut self, frames: &mut Frames) {
        let before = frames.len();
        frames.retain(|frame| header(frame).is_some());
        self.counts.rx_short += (before - frames.len()) as u64;
        let _ = self.rewrite_macs(frames);
    }

    /// Receives one burst, and sends it or puts it into the TX buffer.
    #[inline(always)]
    pub(crate) fn forward_burst(&mut self) {
        let mut frames = Frames::new();
        let received = self.rx.rx_up_to(&mut frames, self.burst);
        self.counts.rx_polls += 1;
        if received == 0 {
            self.counts.rx_empty_polls += 1;
            return;
        }
        self.counts.rx_packets += received as u64;
        #[cfg(feature = "rewrite")]
        let written = self.rewrite(&mut frames);
        #[cfg(not(feature = "rewrite"))]
        let written = self.rewrite_macs(&mut frames);
        if written.is_none() {
            self.drop_runts(&mut frames);
        }
        self.tx.append(&mut frames);
    }

    /// What has come first: a reader of the other order does not see more leave than has come.
    fn publish(&self) {
        let QueueCounts { rx_packets, tx_packets, tx_dropped, rx_short, rx_polls, rx_empty_polls } = self.counts;
        self.counters.rx_polls.store(rx_polls, Relaxed);
        self.counters.rx_empty_polls.store(rx_empty_polls, Relaxed);
        self.counters.rx_packets.store(rx_packets, Relaxed);
        self.counters.rx_short.store(rx_short, Relaxed);
        self.counters.tx_packets.store(tx_packets + self.tx.sent(), Relaxed);
        self.counters.tx_dropped.store(tx_dropped + self.tx.dropped(), Relaxed);
    }

    /// Sends what is in the TX buffer, and publishes the counters.
    pub(crate) fn flush_buffer(&mut self) {
        self.tx.flush();
        self.publish();
    }

    /// Gives the queues back. The TX buffer is empty once the lcore has left.
    pub(crate) fn into_queues(self) -> (RxQueue, TxQueue) {
        (self.rx, self.tx.into_queue())
    }

    /// Frames that have come so far.
    pub(crate) const fn received(&self) -> u64 {
        self.counts.rx_packets
    }

    pub(crate) const fn rx_queue(&mut self) -> &mut RxQueue {
        &mut self.rx
    }

    /// Frames in the TX buffer.
    pub(crate) fn buffered(&self) -> usize {
        self.tx.len()
    }
}

/// Not inlined: the loop stays small.
#[inline(never)]
fn flush_buffers(pairs: &mut [QueuePair<'_>]) {
    pairs.iter_mut().for_each(QueuePair::flush_buffer);
}

/// Forwards until the stop flag is set. `periodic` is called every 100 µs, or after each sleep.
/// A function of its own in the program, which the testbed looks for when it counts instructions.
#[inline(never)]
pub(crate) fn forward_loop(
    pairs: &mut [QueuePair<'_>],
    stop: &AtomicBool,
    clock: Clock,
    mut idle: Idle,
    mut periodic: impl FnMut(Tsc),
) {
    let interval = clock.cycles(FLUSH_INTERVAL);
    let mut due = clock.now().after(interval);
    idle.check(pairs);
    while !stop.load(Relaxed) {
        let now = clock.now();
        if now >= due {
            flush_buffers(pairs);
            periodic(now);
            // After a sleep it is due again once all queues were polled.
            due = if idle.see_to(pairs) { now } else { now.after(interval) };
        }
        if pairs.is_empty() {
            // An idle lcore leaves its core to others, but must still see the flag soon.
            thread::sleep(Duration::from_millis(1));
        }
        for _ in 0..ROUNDS {
            for pair in &mut *pairs {
                pair.forward_burst();
            }
        }
    }
    flush_buffers(pairs);
}
