// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The counters, and the table of statistics.

use crate::{
    args::Options,
    port::ForwardingPort,
    queue_pair::{NB_GAP_LIMITS, QueueCounters},
    topology::QueueAssignment,
};
use dpdk_rs::port::PortStats;
use std::{
    io::{self, Write},
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// Sums over queue pairs: `rx_*` of those that receive on a port, `tx_*` of those that send on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) rx_packets: u64,
    pub(crate) tx_packets: u64,
    pub(crate) tx_dropped: u64,
    pub(crate) rx_short: u64,
    pub(crate) rx_polls: u64,
    pub(crate) rx_empty_polls: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PortTotals {
    pub(crate) port: u16,
    pub(crate) totals: Totals,
    /// The device's own counters.
    pub(crate) device: PortStats,
}

/// Times in which an lcore did not poll its queues although frames came.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GapTotals {
    pub(crate) above: [u64; NB_GAP_LIMITS],
    /// Since the last snapshot.
    pub(crate) longest_ns: u64,
}

/// All counters at one time, since the start of forwarding.
#[derive(Clone, Debug, Default)]
pub(crate) struct Snapshot {
    pub(crate) time_s: f64,
    pub(crate) ports: Vec<PortTotals>,
    pub(crate) total: Totals,
    /// Frames in TX buffers: derived from the counters while forwarding, counted at the end.
    pub(crate) in_flight: u64,
    pub(crate) gaps: GapTotals,
    pub(crate) is_final: bool,
}

fn load(counter: &AtomicU64) -> u64 {
    counter.load(Relaxed)
}

impl Totals {
    fn add(&mut self, part: &Self) {
        self.rx_packets += part.rx_packets;
        self.tx_packets += part.tx_packets;
        self.tx_dropped += part.tx_dropped;
        self.rx_short += part.rx_short;
        self.rx_polls += part.rx_polls;
        self.rx_empty_polls += part.rx_empty_polls;
    }

    /// Frames that were sent, dropped or too short.
    const fn gone(&self) -> u64 {
        self.tx_packets + self.tx_dropped + self.rx_short
    }

    /// Received frames per poll that found any, since `before`.
    pub(crate) fn burst_average(&self, before: &Self) -> f64 {
        let polls = self.rx_polls - before.rx_polls;
        let empty_polls = self.rx_empty_polls - before.rx_empty_polls;
        if polls <= empty_polls {
            0.0
        } else {
            (self.rx_packets - before.rx_packets) as f64 / (polls - empty_polls) as f64
        }
    }
}

/// Frames per second.
pub(crate) fn rate_pps(now: u64, before: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { now.wrapping_sub(before) as f64 / seconds } else { 0.0 }
}

/// Adds up the counters of the queue pairs, by port and in total; the lcores may be forwarding.
pub(crate) fn add_up(ports: &[u16], assignments: &[QueueAssignment], counters: &[QueueCounters]) -> Snapshot {
    let pairs = || assignments.iter().zip(counters);
    let mut snapshot = Snapshot::default();
    // Sent frames of all ports first, so that no more frames leave than arrive.
    for &port in ports {
        let mut stats = PortTotals { port, ..PortTotals::default() };
        for (_, counters) in pairs().filter(|(assignment, _)| assignment.peer == stats.port) {
            stats.totals.tx_packets += load(&counters.tx_packets);
            stats.totals.tx_dropped += load(&counters.tx_dropped);
        }
        snapshot.ports.push(stats);
    }
    for stats in &mut snapshot.ports {
        for (_, counters) in pairs().filter(|(assignment, _)| assignment.port == stats.port) {
            stats.totals.rx_short += load(&counters.rx_short);
            stats.totals.rx_packets += load(&counters.rx_packets);
            stats.totals.rx_empty_polls += load(&counters.rx_empty_polls);
            stats.totals.rx_polls += load(&counters.rx_polls);
        }
        snapshot.total.add(&stats.totals);
    }
    snapshot.in_flight = snapshot.total.rx_packets.saturating_sub(snapshot.total.gone());
    snapshot
}

fn take_gaps(counters: &[QueueCounters]) -> GapTotals {
    let mut gaps = GapTotals::default();
    for counters in counters {
        for (sum, count) in gaps.above.iter_mut().zip(&counters.gaps) {
            *sum += load(count);
        }
        gaps.longest_ns = gaps.longest_ns.max(counters.longest_gap_ns.swap(0, Relaxed));
    }
    gaps
}

/// The counters of all ports and queue pairs. Takes their longest gap.
pub(crate) fn collect(
    ports: &[ForwardingPort],
    assignments: &[QueueAssignment],
    counters: &[QueueCounters],
    time_s: f64,
) -> Snapshot {
    let numbers: Vec<u16> = ports.iter().map(|port| port.port.id().get()).collect();
    let mut snapshot = add_up(&numbers, assignments, counters);
    snapshot.gaps = take_gaps(counters);
    snapshot.time_s = time_s;
    for (port, stats) in ports.iter().zip(&mut snapshot.ports) {
        // A port that was unplugged has no statistics any more.
        stats.device = port.port.stats().unwrap_or_default();
    }
    snapshot
}

impl Snapshot {
    /// Makes a snapshot the final one, after all lcores have stopped. Counts the frames in the TX buffers, since a balance
    /// with a derived number would prove nothing.
    pub(crate) fn count_in_flight(mut self, buffered: impl IntoIterator<Item = u64>) -> Self {
        self.is_final = true;
        self.in_flight = buffered.into_iter().sum();
        self
    }

    /// Whether every frame received was sent, dropped, too short, or is in flight.
    pub(crate) const fn is_balanced(&self) -> bool {
        self.total.rx_packets == self.total.gone() + self.in_flight
    }

    /// The totals of this snapshot and of an earlier one, port by port. An earlier one without ports counts as zero.
    pub(crate) fn ports_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = (&'a PortTotals, Totals)> {
        let earlier = before.ports.iter().map(|port| port.totals).chain(std::iter::repeat(Totals::default()));
        self.ports.iter().zip(earlier)
    }
}

/// Prints the ports, and the queues of each lcore.
pub(crate) fn print_start(
    out: &mut impl Write,
    options: &Options,
    ports: &[ForwardingPort],
    assignments: &[QueueAssignment],
) -> io::Result<()> {
    let queues = options.queues_per_port;
    for ForwardingPort { port, peer, mac, .. } in ports {
        writeln!(
            out,
            "l2fwd: port {} ({}) {mac} -> port {peer}, {queues} queue{}, {} RX and {} TX descriptors",
            port.id(),
            port.name(),
            if queues == 1 { "" } else { "s" },
            options.rx_descriptors,
            options.tx_descriptors,
        )?;
    }
    for group in assignments.chunk_by(|a, b| a.lcore == b.lcore) {
        let names: Vec<_> = group.iter().map(|queue| format!("port {} queue {}", queue.port, queue.queue)).collect();
        if let Some(first) = group.first() {
            writeln!(out, "l2fwd: lcore {}: {}", first.lcore, names.join(", "))?;
        }
    }
    writeln!(out, "l2fwd: forwarding, stop with Ctrl-C")?;
    out.flush()
}

/// Prints that the ports were reset, and how long they were down.
pub(crate) fn print_reset(out: &mut impl Write, seconds: f64) -> io::Result<()> {
    writeln!(out, "l2fwd: ports reset: stopped and restarted in {seconds:.6} s")?;
    out.flush()
}

fn print_row(out: &mut impl Write, name: &str, now: &Totals, before: &Totals, seconds: f64) -> io::Result<()> {
    writeln!(
        out,
        "{name:>5} {:>16} {:>16} {:>16} {:>16} {:>10.2} {:>16} {:>16.0} {:>16.0}",
        now.rx_packets,
        now.tx_packets,
        now.tx_dropped,
        now.rx_short,
        now.burst_average(before),
        now.rx_empty_polls,
        rate_pps(now.rx_packets, before.rx_packets, seconds),
        rate_pps(now.tx_packets, before.tx_packets, seconds),
    )
}

fn print_gaps(out: &mut impl Write, gaps: &GapTotals) -> io::Result<()> {
    let [above_100us, above_1ms, above_3ms, above_10ms] = gaps.above;
    writeln!(
        out,
        "l2fwd: longest gap between polls {:.3} ms; {above_100us} above 0.1 ms, {above_1ms} above 1 ms, \
         {above_3ms} above 3 ms, {above_10ms} above 10 ms",
        gaps.longest_ns as f64 / 1e6
    )
}

/// Prints the table. Rates and bursts are those since the snapshot `before`.
pub(crate) fn print_stats(out: &mut impl Write, now: &Snapshot, before: &Snapshot) -> io::Result<()> {
    let seconds = now.time_s - before.time_s;
    let kind = if now.is_final { "final " } else { "" };
    writeln!(out, "l2fwd: {kind}statistics after {:.1} s", now.time_s)?;
    writeln!(
        out,
        "{:>5} {:>16} {:>16} {:>16} {:>16} {:>10} {:>16} {:>16} {:>16}",
        "port", "received", "sent", "dropped", "short", "avg burst", "empty polls", "rx pps", "tx pps"
    )?;
    for (port, earlier) in now.ports_since(before) {
        print_row(out, &port.port.to_string(), &port.totals, &earlier, seconds)?;
    }
    print_row(out, "total", &now.total, &before.total, seconds)?;
    print_gaps(out, &now.gaps)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{GapTotals, PortTotals, Snapshot, Totals, print_stats};

    /// Every tenth frame came in a poll of its own, and each of these after nine empty ones.
    fn snapshot(time_s: f64, rx: u64) -> Snapshot {
        let totals = Totals {
            rx_packets: rx,
            tx_packets: rx - 2,
            tx_dropped: 1,
            rx_short: 1,
            rx_polls: rx,
            rx_empty_polls: rx / 10 * 9,
        };
        Snapshot {
            time_s,
            ports: vec![PortTotals { port: 7, totals, ..PortTotals::default() }],
            total: totals,
            gaps: GapTotals { above: [9, 4, 1, 0], longest_ns: 3_500_000 },
            ..Snapshot::default()
        }
    }

    #[test]
    fn rates_and_bursts_are_since_the_last_print() {
        let mut out = Vec::new();
        print_stats(&mut out, &snapshot(4.0, 110), &snapshot(2.0, 10)).unwrap();
        let out = String::from_utf8(out).unwrap();
        let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0].join(" "), "l2fwd: statistics after 4.0 s");
        assert_eq!(rows[2], ["7", "110", "108", "1", "1", "10.00", "99", "50", "50"]);
        assert_eq!(rows[3], ["total", "110", "108", "1", "1", "10.00", "99", "50", "50"]);
        assert_eq!(
            rows[4].join(" "),
            "l2fwd: longest gap between polls 3.500 ms; 9 above 0.1 ms, 4 above 1 ms, 1 above 3 ms, 0 above 10 ms"
        );
    }

    #[test]
    fn empty_polls_do_not_lower_the_burst_average() {
        let mut now = Totals { rx_packets: 64, rx_polls: 1_000_000, rx_empty_polls: 999_998, ..Totals::default() };
        assert_eq!(now.burst_average(&Totals::default()).to_string(), "32");
        // Nothing came since the last print.
        let before = now;
        now.rx_polls += 5;
        now.rx_empty_polls += 5;
        assert_eq!(now.burst_average(&before).to_string(), "0");
    }

    #[test]
    fn a_lost_frame_unbalances() {
        let mut last = snapshot(1.0, 100).count_in_flight([0]);
        assert!(last.is_balanced());
        last.total.tx_packets -= 1;
        assert!(!last.is_balanced());
        assert!(last.count_in_flight([1]).is_balanced());
    }
}
