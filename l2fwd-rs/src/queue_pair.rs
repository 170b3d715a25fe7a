// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the lcores work on: RX queues, each with the TX queue of the same number on the peer port.

#[cfg(feature = "rewrite")]
use crate::rewrite::Rewriter;
use crate::{
    args::{BURST_MAX, Options},
    port::{ForwardingPort, Queues},
    topology::QueueAssignment,
};
use dpdk_rs::{Burst, MacAddr, RxQueue, TxQueue};
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// Frames between an RX queue and a TX queue.
pub(crate) type Frames = Burst<(), BURST_MAX>;

/// The queue pairs by lcore.
pub(crate) type Work<'a> = BTreeMap<u32, Vec<QueuePair<'a>>>;

/// Gaps between polls are counted by how long they last: more than 100 µs, 1, 3 and 10 ms.
pub(crate) const NB_GAP_LIMITS: usize = 4;

/// Counts of one queue pair since the start, as last published by its lcore. The main lcore may read them at any time.
/// On cache lines of its own.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(crate) struct QueueCounters {
    pub(crate) rx_packets: AtomicU64,
    pub(crate) tx_packets: AtomicU64,
    pub(crate) tx_dropped: AtomicU64,
    pub(crate) rx_short: AtomicU64,
    pub(crate) rx_polls: AtomicU64,
    pub(crate) rx_empty_polls: AtomicU64,
    /// Of the whole lcore, in its first pair, and counted at once.
    pub(crate) gaps: [AtomicU64; NB_GAP_LIMITS],
    /// Since the main lcore last took it.
    pub(crate) longest_gap_ns: AtomicU64,
}

/// The current counts, which only the lcore that owns the pair accesses.
pub(crate) struct QueueCounts {
    pub(crate) rx_packets: u64,
    pub(crate) tx_packets: u64,
    pub(crate) tx_dropped: u64,
    pub(crate) rx_short: u64,
    pub(crate) rx_polls: u64,
    pub(crate) rx_empty_polls: u64,
}

impl QueueCounts {
    /// Continues from the counts published last: zeros at the start, all counts so far after a reset of the ports.
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
    /// Frames that wait for a full burst, or for the drain. Declared before the queues, since fields are dropped in this
    /// order: dropping the last queue cleans up the EAL, and only if all frames are back in their pools.
    pub(crate) buffer: Frames,
    pub(crate) rx: RxQueue,
    pub(crate) tx: TxQueue,
    pub(crate) burst: usize,
    pub(crate) update_macs: bool,
    /// Destination and source MAC of every frame sent.
    pub(crate) macs: [u8; 12],
    pub(crate) counts: QueueCounts,
    pub(crate) counters: &'a QueueCounters,
    #[cfg(feature = "rewrite")]
    pub(crate) rewriter: Option<Rewriter>,
}

impl<'a> QueuePair<'a> {
    pub(crate) fn new(
        rx: RxQueue,
        tx: TxQueue,
        tx_mac: MacAddr,
        options: &Options,
        counters: &'a QueueCounters,
    ) -> Self {
        let [_, tx_port] = tx.port().get().to_be_bytes();
        let [s0, s1, s2, s3, s4, s5] = tx_mac.octets();
        let macs = [0x02, 0, 0, 0, 0, tx_port, s0, s1, s2, s3, s4, s5];
        Self {
            buffer: Frames::new(),
            rx,
            tx,
            burst: usize::from(options.burst),
            update_macs: options.update_macs,
            macs,
            counts: QueueCounts::after(counters),
            counters,
            #[cfg(feature = "rewrite")]
            rewriter: Rewriter::new(options.rewrite, macs),
        }
    }
}

/// Joins the queues into pairs, by lcore.
pub(crate) fn hand_out_work<'a>(
    options: &Options,
    ports: &[ForwardingPort],
    queues: BTreeMap<u16, Queues>,
    assignments: &[QueueAssignment],
    counters: &'a [QueueCounters],
) -> Work<'a> {
    let (mut rx, mut tx) = (BTreeMap::new(), BTreeMap::new());
    for queue in queues.into_values() {
        rx.extend(queue.0.into_iter().map(|queue| ((queue.port().get(), queue.id()), queue)));
        tx.extend(queue.1.into_iter().map(|queue| ((queue.port().get(), queue.id()), queue)));
    }
    let mut work = Work::new();
    for (assignment, counters) in assignments.iter().zip(counters) {
        let peer = ports.iter().find(|port| port.port.id().get() == assignment.peer);
        let rx = rx.remove(&(assignment.port, assignment.queue));
        let tx = tx.remove(&(assignment.peer, assignment.queue));
        // The peers are a permutation of the ports, so each queue exists and is taken once.
        if let (Some(peer), Some(rx), Some(tx)) = (peer, rx, tx) {
            let pair = QueuePair::new(rx, tx, peer.mac, options, counters);
            work.entry(assignment.lcore).or_default().push(pair);
        }
    }
    work
}

/// Takes the pairs apart into queues by port number, since a port needs its queues to stop. The TX buffers are empty after
/// the lcores have left.
pub(crate) fn take_back_queues(work: Work<'_>) -> BTreeMap<u16, Queues> {
    let mut queues = BTreeMap::<u16, Queues>::new();
    for QueuePair { rx, tx, .. } in work.into_values().flatten() {
        queues.entry(rx.port().get()).or_default().0.push(rx);
        queues.entry(tx.port().get()).or_default().1.push(tx);
    }
    queues
}

fn set(counter: &AtomicU64, value: u64) {
    counter.store(value, Relaxed);
}

impl QueuePair<'_> {
    /// Publishes the counts to the main lcore.
    pub(crate) fn publish(&self) {
        let Self { counts, counters, .. } = self;
        // Received frames first: a reader that loads in the other order never counts more frames that left than arrived.
        set(&counters.rx_polls, counts.rx_polls);
        set(&counters.rx_empty_polls, counts.rx_empty_polls);
        set(&counters.rx_packets, counts.rx_packets);
        set(&counters.rx_short, counts.rx_short);
        set(&counters.tx_packets, counts.tx_packets);
        set(&counters.tx_dropped, counts.tx_dropped);
    }
}
