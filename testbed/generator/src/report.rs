// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The result, as JSON and as text.
//!
//! `received` counts all frames of a stream that arrived, whole or not. `lost` is the number sent minus the number received,
//! without duplicates. A frame whose identity was changed counts as foreign and as lost.

use crate::{
    args::Options, gaps::Gaps, latency::LatencySummary, pacing::Lateness, ports::GeneratorPort, run::Course,
    steps::Steps, stream::Stream,
};
use dpdk_rs::{Clock, Port, port::PortStats};
use serde::Serialize;
use std::io::{self, Write};

/// The largest relative error of the rate.
const RATE_TOLERANCE: f64 = 0.001;

#[derive(Debug, Serialize)]
pub(crate) struct Report {
    #[serde(rename = "type")]
    kind: &'static str,
    program: &'static str,
    version: &'static str,
    dpdk: String,
    /// Bytes of each frame, with FCS; `None` for a mixture.
    size: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mixture: Option<Mixture>,
    /// Of each tag, the first in the frame first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    vlan: Vec<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vxlan: Option<u32>,
    ip_version: u8,
    /// How many combinations of addresses and ports there are.
    flows: u64,
    rate_asked_pps: Option<f64>,
    /// That of the slowest stream, as the rate of a stream with the whole load.
    rate_reached_pps: f64,
    /// `None` for a run with two loads.
    rate_ok: Option<bool>,
    /// Of all streams; `None` for a run without a rate.
    lateness: Option<Lateness>,
    gaps: Gaps,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<Steps>,
    duration_s: f64,
    /// CPU time divided by time while sending: less than 1 if other programs used the CPU.
    cpu_share: f64,
    interrupted: bool,
    /// Frames of all streams that came back before sending ended.
    received_under_load: u64,
    streams: Vec<StreamReport>,
    foreign: u64,
    /// ARP requests and neighbour solicitations that were answered, also before the run.
    answered: u64,
    probes: Probes,
    total: Counters,
    device: Vec<Device>,
    ports: Vec<PortReport>,
}

/// The sizes of a mixture: the sequence that was sent repeatedly.
#[derive(Debug, PartialEq, Serialize)]
struct Mixture {
    sizes: Vec<u16>,
    /// Bytes of the average frame.
    mean: f64,
}

impl Mixture {
    /// `None` if all frames have one size.
    fn of(options: &Options) -> Option<Self> {
        if options.only_size().is_some() {
            return None;
        }
        let sizes = options.sizes.clone();
        let mean = sizes.iter().map(|size| f64::from(*size)).sum::<f64>() / sizes.len() as f64;
        Some(Self { sizes, mean })
    }
}

#[derive(Debug, Serialize)]
struct StreamReport {
    stream: usize,
    tx_port: u16,
    rx_port: u16,
    #[serde(flatten)]
    counters: Counters,
    /// The longest time in which no frame came back and frames were lost; `None` if there was none, or
    /// without a rate.
    outage_s: Option<f64>,
    latency_ns: LatencySummary,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Counters {
    sent: u64,
    tx_failed: u64,
    received: u64,
    lost: u64,
    duplicated: u64,
    reordered: u64,
    corrupted: u64,
    wrong_mac: Option<u64>,
    late: u64,
    tx_pps: f64,
    rx_pps: f64,
}

/// Frames before the run, which no other field counts.
#[derive(Debug, Serialize)]
struct Probes {
    sent: u64,
    received: u64,
}

#[derive(Debug, Serialize)]
struct Device {
    port: u16,
    #[serde(flatten)]
    stats: PortStats,
}

/// A port as it was set up.
#[derive(Debug, Serialize)]
struct PortReport {
    port: u16,
    name: String,
    mac: String,
    queues: u16,
    rxd: u16,
    txd: u16,
    device: PortDevice,
}

/// What the driver reports of a port; `None` where it reports nothing.
#[derive(Debug, Serialize)]
struct PortDevice {
    driver: Option<String>,
    /// The NUMA node.
    socket: Option<i32>,
    mtu: Option<u16>,
    link_mbps: Option<u32>,
    firmware: Option<String>,
    /// Of the first queue: all queues of a port are set up alike.
    rx_offloads: Option<Vec<String>>,
    tx_offloads: Option<Vec<String>>,
}

impl PortReport {
    fn new(GeneratorPort { port, mac, .. }: &GeneratorPort, options: &Options) -> Self {
        Self {
            port: port.id().get(),
            name: port.name().to_owned(),
            mac: mac.to_string(),
            queues: options.queues,
            rxd: options.rx_descriptors,
            txd: options.tx_descriptors,
            device: PortDevice::new(port),
        }
    }
}

impl PortDevice {
    fn new(port: &Port) -> Self {
        let socket = port.socket().get();
        let link = port.link().ok().filter(|link| link.up);
        Self {
            driver: port.info().ok().map(|info| info.driver),
            socket: (socket >= 0).then_some(socket),
            mtu: port.mtu().ok(),
            link_mbps: link.and_then(|link| link.speed_mbps),
            firmware: port.firmware_version().ok(),
            rx_offloads: port.rx_queue_info(0).ok().map(|queue| queue.offloads),
            tx_offloads: port.tx_queue_info(0).ok().map(|queue| queue.offloads),
        }
    }
}

impl Report {
    pub(crate) fn new(
        options: &Options,
        streams: &[Stream],
        ports: &[GeneratorPort],
        course: Course,
        clock: Clock,
    ) -> Self {
        let seconds = |cycles| clock.duration(cycles).as_secs_f64();
        let duration_s = seconds(course.end.since(course.start));
        let reports: Vec<StreamReport> = streams
            .iter()
            .enumerate()
            .map(|(stream, Stream { tx_port, rx_port, sender, receiver, .. })| {
                let judge = &receiver.judge;
                let counts = judge.tracker.counts();
                // Frames may still arrive after the last one was sent.
                let receiving_s = receiver.last.map_or(0.0, |last| seconds(last.since(course.start))).max(duration_s);
                StreamReport {
                    stream,
                    tx_port: *tx_port,
                    rx_port: *rx_port,
                    counters: Counters {
                        sent: sender.sent,
                        tx_failed: sender.failed,
                        received: judge.received(),
                        lost: sender.sent.saturating_sub(judge.unique()),
                        duplicated: counts.duplicated,
                        reordered: counts.reordered,
                        corrupted: judge.corrupted,
                        wrong_mac: judge.macs_are_checked().then_some(judge.wrong_mac),
                        late: counts.late,
                        tx_pps: rate_pps(sender.sent, duration_s),
                        rx_pps: rate_pps(judge.received(), receiving_s),
                    },
                    outage_s: receiver.outage.longest.filter(|_| options.rate_pps.is_some()).map(seconds),
                    latency_ns: judge.latency.summary(clock),
                }
            })
            .collect();
        let reached = reports
            .iter()
            .zip(streams)
            .map(|(report, stream)| report.counters.tx_pps / stream.share)
            .fold(f64::INFINITY, f64::min);
        Self {
            kind: "result",
            program: "generator",
            version: env!("CARGO_PKG_VERSION"),
            dpdk: dpdk_rs::dpdk_version(),
            size: options.only_size(),
            mixture: Mixture::of(options),
            vlan: options.format.vlans.clone(),
            vxlan: options.format.vxlan,
            ip_version: if options.format.ipv6.is_some() { 6 } else { 4 },
            flows: options.flows.unwrap_or_else(|| u64::try_from(options.ranges.combinations()).unwrap_or(u64::MAX)),
            rate_asked_pps: options.rate_pps,
            rate_reached_pps: reached,
            rate_ok: options.rate_pps.filter(|_| course.then.is_none()).map(|asked| rate_is_ok(asked, reached)),
            lateness: streams.iter().filter_map(|stream| stream.sender.lateness()).reduce(Lateness::and),
            gaps: course.gaps,
            steps: Steps::new(streams, course, clock),
            duration_s,
            cpu_share: if duration_s > 0.0 { course.cpu.as_secs_f64() / duration_s } else { 0.0 },
            interrupted: course.interrupted,
            received_under_load: course.received,
            foreign: streams.iter().map(|stream| stream.receiver.judge.foreign).sum(),
            answered: streams.iter().map(|stream| stream.receiver.neighbour.answered).sum(),
            probes: Probes {
                sent: streams.iter().map(|stream| stream.sender.probes).sum(),
                received: streams.iter().map(|stream| stream.receiver.judge.probes).sum(),
            },
            total: Counters::sum(reports.iter().map(|report| &report.counters)),
            device: ports.iter().map(Device::of).collect(),
            ports: ports.iter().map(|port| PortReport::new(port, options)).collect(),
            streams: reports,
        }
    }

    /// Writes the result as JSON on one line.
    pub(crate) fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")?;
        out.flush()
    }

    /// Writes the result for people.
    pub(crate) fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        let ended = if self.interrupted { " (interrupted)" } else { "" };
        match (self.size, &self.mixture) {
            (None, Some(Mixture { sizes, mean })) => {
                write!(out, "{} frames of {mean:.1} bytes on average again and again", sizes.len())?;
            }
            (size, _) => write!(out, "{} bytes", size.unwrap_or_default())?,
        }
        writeln!(out, ", {:.3} s{ended}", self.duration_s)?;
        for StreamReport { stream, tx_port, rx_port, counters, latency_ns, .. } in &self.streams {
            writeln!(out, "stream {stream}: port {tx_port} to port {rx_port}")?;
            counters.write_text(out)?;
            if let LatencySummary {
                min: Some(min),
                avg: Some(avg),
                max: Some(max),
                ipdv: Some(ipdv),
                p50: Some(p50),
                p99: Some(p99),
                ..
            } = latency_ns
            {
                write!(out, "  latency us  min {:.1}, average {:.1}, max {:.1}", min / 1e3, avg / 1e3, max / 1e3)?;
                writeln!(out, ", mean |IPDV| {:.1}, p50 {:.1}, p99 {:.1}", ipdv / 1e3, p50 / 1e3, p99 / 1e3)?;
            }
        }
        if self.streams.len() > 1 {
            writeln!(out, "total")?;
            self.total.write_text(out)?;
        }
        if self.foreign > 0 {
            writeln!(out, "foreign frames: {}", self.foreign)?;
        }
        if self.answered > 0 {
            writeln!(out, "ARP requests and neighbour solicitations answered: {}", self.answered)?;
        }
        if let Some(Lateness { worst_lag_s, caught_up }) = self.lateness.filter(|late| late.caught_up > 0) {
            writeln!(out, "behind by up to {:.1} us, made up for with {caught_up} frames", worst_lag_s * 1e6)?;
        }
        if self.gaps.above_100us > 0 {
            let Gaps { longest_s, above_100us, above_1ms, .. } = self.gaps;
            let longest_ms = longest_s * 1e3;
            writeln!(
                out,
                "longest gap between polls {longest_ms:.3} ms; {above_100us} above 0.1 ms, {above_1ms} above 1 ms"
            )?;
        }
        if let (Some(asked), Some(false)) = (self.rate_asked_pps, self.rate_ok) {
            let reached = self.rate_reached_pps;
            writeln!(out, "rate not reached: {asked:.1} frames a second asked for, {reached:.1} sent")?;
        }
        Ok(())
    }
}

impl Counters {
    fn sum<'a>(streams: impl Iterator<Item = &'a Self>) -> Self {
        streams
            .cloned()
            .reduce(|sum, stream| Self {
                sent: sum.sent + stream.sent,
                tx_failed: sum.tx_failed + stream.tx_failed,
                received: sum.received + stream.received,
                lost: sum.lost + stream.lost,
                duplicated: sum.duplicated + stream.duplicated,
                reordered: sum.reordered + stream.reordered,
                corrupted: sum.corrupted + stream.corrupted,
                wrong_mac: sum.wrong_mac.zip(stream.wrong_mac).map(|(sum, stream)| sum + stream),
                late: sum.late + stream.late,
                tx_pps: sum.tx_pps + stream.tx_pps,
                rx_pps: sum.rx_pps + stream.rx_pps,
            })
            .unwrap_or_default()
    }

    fn write_text(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "  sent        {:>14}  {:9.6} Mpps", self.sent, self.tx_pps / 1e6)?;
        writeln!(out, "  received    {:>14}  {:9.6} Mpps", self.received, self.rx_pps / 1e6)?;
        let share = if self.sent == 0 { 0.0 } else { 100.0 * self.lost as f64 / self.sent as f64 };
        writeln!(out, "  lost        {:>14}  {share:.4} %", self.lost)?;
        for (what, count) in [
            ("not taken", self.tx_failed),
            ("duplicated", self.duplicated),
            ("reordered", self.reordered),
            ("late", self.late),
            ("corrupted", self.corrupted),
        ] {
            if count > 0 {
                writeln!(out, "  {what:<10}  {count:>14}")?;
            }
        }
        match self.wrong_mac {
            Some(0) => Ok(()),
            Some(count) => writeln!(out, "  wrong MAC   {count:>14}"),
            None => writeln!(out, "  MAC addresses not checked"),
        }
    }
}

impl Device {
    /// A device that has no counters reports zeros, as one that does not count something.
    fn of(port: &GeneratorPort) -> Self {
        Self { port: port.port.id().get(), stats: port.port.stats().unwrap_or_default() }
    }
}

fn rate_pps(frames: u64, seconds: f64) -> f64 {
    if seconds > 0.0 { (frames as f64 / seconds * 1e3).round() / 1e3 } else { 0.0 }
}

fn rate_is_ok(asked: f64, reached: f64) -> bool {
    (reached - asked).abs() <= asked * RATE_TOLERANCE
}

#[cfg(test)]
mod tests {
    use super::{Counters, rate_is_ok, rate_pps};

    #[test]
    fn totals_are_sums_and_unchecked_addresses_stay_unchecked() {
        let one = Counters { sent: 3, received: 2, lost: 1, wrong_mac: Some(1), tx_pps: 1.5, ..Counters::default() };
        let two = Counters { wrong_mac: None, ..one.clone() };
        let sum = Counters::sum([&one, &one].into_iter());
        assert_eq!((sum.sent, sum.received, sum.lost, sum.wrong_mac, sum.tx_pps), (6, 4, 2, Some(2), 3.0));
        assert_eq!(Counters::sum([&one, &two].into_iter()).wrong_mac, None);
        assert_eq!(Counters::sum([].into_iter()), Counters::default());
    }

    #[test]
    fn a_rate_is_ok_within_a_thousandth() {
        assert!(rate_is_ok(1e6, 999_001.0) && rate_is_ok(1e6, 1_000_999.0));
        assert!(!rate_is_ok(1e6, 998_999.0) && !rate_is_ok(1e6, 1_001_001.0));
        assert!(rate_pps(10, 0.0) < 1.0);
    }
}
