// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The data path.

use crate::{
    gaps::GapWatch,
    idle::Idle,
    queue_pair::{Frames, QueuePair},
};
use dpdk_rs::{Clock, Packet, Tsc};
use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

const ETHERNET_HEADER_LEN: usize = 14;
const DRAIN_INTERVAL: Duration = Duration::from_micros(100);
/// Rounds over the queue pairs before the loop looks at the clock and the stop flag again.
const ROUNDS: u32 = 8;
/// Frames per iteration of the loop over a burst. With bursts of 32, a packet takes 10.0 instructions, and 12.1 without
/// groups (`./x bench overload --count`, DPDK 22.11).
const GROUP: usize = 4;

type Header = [u8; ETHERNET_HEADER_LEN];

/// The Ethernet header of a frame, if it is long enough for one.
#[inline(always)]
fn header(frame: &mut Packet) -> Option<&mut Header> {
    frame.data_mut().ok()?.first_chunk_mut()
}

/// Both addresses, in two stores.
#[inline(always)]
fn write_macs(header: &mut Header, first_bytes: u64, last_bytes: u32) {
    header[..8].copy_from_slice(&first_bytes.to_ne_bytes());
    header[8..12].copy_from_slice(&last_bytes.to_ne_bytes());
}

impl QueuePair<'_> {
    /// Writes the MACs into each frame. Stops and returns `None` at the first frame that is too short for an Ethernet header;
    /// the frames before it are written.
    #[inline(always)]
    pub(crate) fn rewrite_macs(&self, frames: &mut [Packet]) -> Option<()> {
        if !self.update_macs {
            return frames.iter_mut().all(|frame| header(frame).is_some()).then_some(());
        }
        // Local copies stay in registers. Headers are not prefetched: they are only written, and no instruction waits for a
        // write.
        let first_bytes = u64::from_ne_bytes(*self.macs.first_chunk()?);
        let last_bytes = u32::from_ne_bytes(*self.macs.last_chunk()?);
        let (rest, groups) = frames.as_rchunks_mut::<GROUP>();
        for frame in rest {
            write_macs(header(frame)?, first_bytes, last_bytes);
        }
        for group in groups {
            for frame in group {
                write_macs(header(frame)?, first_bytes, last_bytes);
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
        // A parser of --rewrite has already written the frames that it accepts.
        #[cfg(feature = "rewrite")]
        if self.rewriter.is_some() {
            return;
        }
        let _ = self.rewrite_macs(frames);
    }

    /// One attempt only: a full queue is still full an instant later, and waiting for room would make the RX queue overflow
    /// instead.
    #[inline(always)]
    fn send_burst(&mut self, frames: &mut Frames) {
        let count = frames.len();
        let sent = self.tx.tx(frames);
        self.counts.tx_packets += sent as u64;
        if sent < count {
            frames.clear();
            self.counts.tx_dropped += (count - sent) as u64;
        }
    }

    fn send_buffer(&mut self) {
        let mut frames = std::mem::take(&mut self.buffer);
        self.send_burst(&mut frames);
    }

    #[inline(never)]
    fn buffer_frames(&mut self, frames: &mut Frames) {
        while !frames.is_empty() {
            self.buffer.append(frames);
            if self.buffer.len() >= self.burst {
                self.send_buffer();
            }
        }
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
        let written = match &self.rewriter {
            Some(rewriter) => rewriter.rewrite(&mut frames),
            None => self.rewrite_macs(&mut frames),
        };
        #[cfg(not(feature = "rewrite"))]
        let written = self.rewrite_macs(&mut frames);
        if written.is_none() {
            self.drop_runts(&mut frames);
        }

        if frames.len() == self.burst && self.buffer.is_empty() {
            self.send_burst(&mut frames);
        } else {
            self.buffer_frames(&mut frames);
        }
    }

    /// Sends what is in the TX buffer, and publishes the counters.
    pub(crate) fn drain_buffer(&mut self) {
        self.send_buffer();
        self.publish();
    }
}

/// Not inlined: the loop stays small.
#[inline(never)]
fn drain_buffers(pairs: &mut [QueuePair<'_>]) {
    pairs.iter_mut().for_each(QueuePair::drain_buffer);
}

/// Forwards until the stop flag is set. `periodic` is called after each drain: every 100 µs, or after each sleep.
/// Not inlined: the testbed finds this function by name when it counts instructions.
#[inline(never)]
pub(crate) fn forward_loop(
    pairs: &mut [QueuePair<'_>],
    stop: &AtomicBool,
    clock: Clock,
    lcore: u32,
    idle_sleep: bool,
    mut periodic: impl FnMut(Tsc),
) {
    let interval = clock.cycles(DRAIN_INTERVAL);
    let mut due = clock.now().after(interval);
    let mut gaps = GapWatch::begin(clock);
    let mut idle = Idle::begin(lcore, idle_sleep, pairs);
    while !stop.load(Relaxed) {
        let now = clock.now();
        if now >= due {
            gaps.watch_gap(pairs, now.since(due));
            drain_buffers(pairs);
            periodic(now);
            // After a sleep, drain again as soon as all queues have been polled.
            due = if idle.sleep_if_idle(pairs) { clock.now() } else { now.after(interval) };
        }
        if pairs.is_empty() {
            // An lcore without queues leaves its core to others, but must see the stop flag soon.
            thread::sleep(Duration::from_millis(1));
        }
        for _ in 0..ROUNDS {
            for pair in &mut *pairs {
                pair.forward_burst();
            }
        }
    }
    drain_buffers(pairs);
}
