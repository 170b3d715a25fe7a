// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the main lcore reports: text, and JSON lines if requested.

use crate::{
    args::Options,
    port::{ForwardingPort, report_links},
    queue_pair::{QueueCounters, QueuePair, Work},
    stats::{Snapshot, collect, print_reset, print_start, print_stats},
    stats_json::StatsJson,
    topology::QueueAssignment,
};
use dpdk_rs::{Clock, Tsc};
use std::{
    io::{self, BufWriter, Write},
    time::Duration,
};

/// How often to check the links.
const LINK_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) struct Report {
    /// stdout, or stderr if stdout is for JSON; written in whole reports, since stderr makes a system call for each part of
    /// a line, and the loop waits meanwhile. Write errors are ignored: a closed pipe is not an error.
    pub(crate) text: BufWriter<Box<dyn Write>>,
    json: StatsJson,
    clock: Clock,
    start: Tsc,
    /// In TSC cycles; 0: never.
    period: u64,
    next_period: Tsc,
    next_links: Tsc,
    end: Option<Tsc>,
    before: Snapshot,
    /// In all snapshots but the last one.
    longest_gap_ns: u64,
}

impl Report {
    /// Starts the clock.
    pub(crate) fn new(json: StatsJson, options: &Options, clock: Clock) -> Self {
        let cycles = |seconds: u32| clock.cycles(Duration::from_secs(u64::from(seconds)));
        let start = clock.now();
        let period = cycles(options.period_s);
        Self {
            text: BufWriter::new(if json.is_stdout() { Box::new(io::stderr()) } else { Box::new(io::stdout()) }),
            json,
            clock,
            start,
            period,
            next_period: start.after(period),
            next_links: start,
            end: options.duration_s.map(|seconds| start.after(cycles(seconds))),
            before: Snapshot::default(),
            longest_gap_ns: 0,
        }
    }

    fn seconds(&self, now: Tsc) -> f64 {
        self.clock.duration(now.since(self.start)).as_secs_f64()
    }

    /// Reports the ports, and the queues of each lcore.
    pub(crate) fn begin(
        &mut self,
        program: &str,
        options: &Options,
        ports: &[ForwardingPort],
        assignments: &[QueueAssignment],
    ) {
        let _ = print_start(&mut self.text, options, ports, assignments);
        self.json.write_start(program, options, ports, assignments);
    }

    /// Reports statistics and changed links when they are due.
    pub(crate) fn update(
        &mut self,
        ports: &mut [ForwardingPort],
        assignments: &[QueueAssignment],
        counters: &[QueueCounters],
        now: Tsc,
    ) {
        if self.period > 0 && now >= self.next_period {
            let snapshot = collect(ports, assignments, counters, self.seconds(now));
            let _ = print_stats(&mut self.text, &snapshot, &self.before);
            self.json.write_stats(&snapshot, &self.before);
            self.longest_gap_ns = self.longest_gap_ns.max(snapshot.gaps.longest_ns);
            self.before = snapshot;
            while self.next_period <= now {
                self.next_period = self.next_period.after(self.period);
            }
        }
        if now >= self.next_links {
            let _ = report_links(ports, &mut self.text);
            self.next_links = now.after(self.clock.cycles(LINK_INTERVAL));
        }
    }

    /// Whether the time of `--duration` is over.
    pub(crate) fn is_over(&self, now: Tsc) -> bool {
        self.end.is_some_and(|end| now >= end)
    }

    /// Reports that the ports were stopped and started again, from `begin` until now.
    pub(crate) fn add_reset(&mut self, begin: Tsc) {
        let end_s = self.seconds(self.clock.now());
        let down_s = end_s - self.seconds(begin);
        let _ = print_reset(&mut self.text, down_s);
        self.json.write_reset(end_s, down_s);
    }

    /// Reports the final statistics, once all lcores have stopped.
    pub(crate) fn finish(
        &mut self,
        ports: &[ForwardingPort],
        assignments: &[QueueAssignment],
        counters: &[QueueCounters],
        work: &Work<'_>,
    ) {
        let buffered = work.values().flatten().map(|pair: &QueuePair<'_>| pair.buffer.len() as u64);
        let mut last = collect(ports, assignments, counters, self.seconds(self.clock.now())).count_in_flight(buffered);
        last.gaps.longest_ns = last.gaps.longest_ns.max(self.longest_gap_ns);
        // Rates over the whole run: since a snapshot of nothing.
        let _ = print_stats(&mut self.text, &last, &Snapshot::default());
        self.json.write_stats(&last, &Snapshot::default());
    }
}
