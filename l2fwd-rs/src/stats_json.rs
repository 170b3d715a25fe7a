// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Statistics as JSON lines.

use crate::{
    args::Options,
    error::{Error, io_error, warn},
    port::ForwardingPort,
    stats::{GapTotals, Snapshot, Totals, rate_pps},
    topology::QueueAssignment,
};
use dpdk_rs::{Port, port::PortStats};
use serde::Serialize;
use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Write},
};

/// Where the objects go; nowhere without `--stats-json`.
pub(crate) struct StatsJson {
    path: OsString,
    out: Option<Box<dyn Write>>,
    failed: bool,
}

#[derive(Serialize)]
struct Start<'a> {
    r#type: &'a str,
    program: &'a str,
    version: &'a str,
    dpdk: String,
    ports: Vec<StartPort<'a>>,
    lcores: Vec<StartLcore>,
}

#[derive(Serialize)]
struct StartPort<'a> {
    port: u16,
    name: &'a str,
    mac: String,
    peer: u16,
    queues: u16,
    rxd: u16,
    txd: u16,
    device: StartDevice,
}

/// What the driver reports of a port; `None` where it reports nothing.
#[derive(Serialize)]
struct StartDevice {
    driver: Option<String>,
    /// The NUMA node.
    socket: Option<i32>,
    mtu: Option<u16>,
    /// Of a link that is already up.
    link_mbps: Option<u32>,
    firmware: Option<String>,
    /// Of the first queue: all queues of a port are set up alike.
    rx_offloads: Option<Vec<String>>,
    tx_offloads: Option<Vec<String>>,
}

#[derive(Serialize)]
struct StartLcore {
    lcore: u32,
    queues: Vec<[u16; 2]>,
}

#[derive(Serialize)]
struct Reset {
    r#type: &'static str,
    time_s: f64,
    down_s: f64,
}

#[derive(Serialize)]
struct Period<'a> {
    r#type: &'a str,
    time_s: f64,
    ports: Vec<PeriodPort>,
    total: PeriodTotal,
    #[serde(skip_serializing_if = "Option::is_none")]
    balanced: Option<bool>,
}

#[derive(Serialize)]
struct PeriodPort {
    port: u16,
    #[serde(flatten)]
    counters: Counters,
    device: PortStats,
}

#[derive(Serialize)]
struct PeriodTotal {
    #[serde(flatten)]
    counters: Counters,
    in_flight: u64,
    gaps: Gaps,
}

#[derive(Serialize)]
struct Gaps {
    longest_s: f64,
    above_100us: u64,
    above_1ms: u64,
    above_3ms: u64,
    above_10ms: u64,
}

#[derive(Serialize)]
struct Counters {
    rx_packets: u64,
    tx_packets: u64,
    tx_dropped: u64,
    rx_short: u64,
    rx_polls: u64,
    rx_empty_polls: u64,
    rx_burst_avg: f64,
    rx_pps: u64,
    tx_pps: u64,
}

impl StartDevice {
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

impl Gaps {
    fn new(gaps: &GapTotals) -> Self {
        let [above_100us, above_1ms, above_3ms, above_10ms] = gaps.above;
        Self { longest_s: round(gaps.longest_ns as f64 / 1e9, 6), above_100us, above_1ms, above_3ms, above_10ms }
    }
}

impl Counters {
    fn new(now: &Totals, before: &Totals, seconds: f64) -> Self {
        Self {
            rx_packets: now.rx_packets,
            tx_packets: now.tx_packets,
            tx_dropped: now.tx_dropped,
            rx_short: now.rx_short,
            rx_polls: now.rx_polls,
            rx_empty_polls: now.rx_empty_polls,
            rx_burst_avg: round(now.burst_average(before), 2),
            rx_pps: rate_pps(now.rx_packets, before.rx_packets, seconds).round() as u64,
            tx_pps: rate_pps(now.tx_packets, before.tx_packets, seconds).round() as u64,
        }
    }
}

fn round(value: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (value * scale).round() / scale
}

impl StatsJson {
    /// Opens the file, or stdout for `-`.
    pub(crate) fn open(path: Option<&OsStr>) -> Result<Self, Error> {
        let out: Option<Box<dyn Write>> = match path {
            None => None,
            Some(path) if path == "-" => Some(Box::new(io::stdout())),
            Some(path) => Some(Box::new(File::create(path).map_err(|error| {
                Error::Failed(format!("cannot open '{}' for statistics: {}", path.display(), io_error(&error)))
            })?)),
        };
        Ok(Self { path: path.unwrap_or_default().to_owned(), out, failed: false })
    }

    /// Whether stdout is taken, so that text has to go to stderr.
    pub(crate) fn is_stdout(&self) -> bool {
        self.path == "-"
    }

    /// Writes one object on one line. A failure is reported once, and does not stop forwarding.
    fn write_line(&mut self, object: &impl Serialize) {
        let Some(out) = &mut self.out else { return };
        let result = serde_json::to_vec(object).map_err(io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            out.write_all(&line)?;
            out.flush()
        });
        if let Err(error) = result
            && !self.failed
        {
            warn(format_args!("cannot write statistics to '{}': {}", self.path.display(), io_error(&error)));
            self.failed = true;
        }
    }

    /// What is forwarded where, by whom; written when forwarding begins.
    pub(crate) fn write_start(
        &mut self,
        program: &str,
        options: &Options,
        ports: &[ForwardingPort],
        assignments: &[QueueAssignment],
    ) {
        let ports = ports.iter().map(|port| StartPort {
            port: port.port.id().get(),
            name: port.port.name(),
            mac: port.mac.to_string(),
            peer: port.peer,
            queues: options.queues_per_port,
            rxd: options.rx_descriptors,
            txd: options.tx_descriptors,
            device: StartDevice::new(&port.port),
        });
        let lcores = assignments.chunk_by(|a, b| a.lcore == b.lcore).filter_map(|group| {
            let queues = group.iter().map(|assignment| [assignment.port, assignment.queue]).collect();
            group.first().map(|first| StartLcore { lcore: first.lcore, queues })
        });
        let start = Start {
            r#type: "start",
            program,
            version: env!("CARGO_PKG_VERSION"),
            dpdk: dpdk_rs::dpdk_version(),
            ports: ports.collect(),
            lcores: lcores.collect(),
        };
        self.write_line(&start);
    }

    /// The ports were stopped and started again, within `seconds` that ended at `time_s`.
    pub(crate) fn write_reset(&mut self, time_s: f64, seconds: f64) {
        self.write_line(&Reset { r#type: "reset", time_s: round(time_s, 3), down_s: round(seconds, 6) });
    }

    /// The counters since the start, with the rates since `before`.
    pub(crate) fn write_stats(&mut self, now: &Snapshot, before: &Snapshot) {
        let seconds = now.time_s - before.time_s;
        let ports = now.ports_since(before).map(|(port, earlier)| PeriodPort {
            port: port.port,
            counters: Counters::new(&port.totals, &earlier, seconds),
            device: port.device,
        });
        let period = Period {
            r#type: if now.is_final { "final" } else { "period" },
            time_s: round(now.time_s, 3),
            ports: ports.collect(),
            total: PeriodTotal {
                counters: Counters::new(&now.total, &before.total, seconds),
                in_flight: now.in_flight,
                gaps: Gaps::new(&now.gaps),
            },
            balanced: now.is_final.then(|| now.is_balanced()),
        };
        self.write_line(&period);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::Gaps;
    use crate::stats::GapTotals;

    #[test]
    fn gaps_are_those_of_the_other_twin() {
        let gaps = GapTotals { above: [9, 4, 1, 0], longest_ns: 3_500_000 };
        assert_eq!(
            serde_json::to_string(&Gaps::new(&gaps)).unwrap(),
            r#"{"longest_s":0.0035,"above_100us":9,"above_1ms":4,"above_3ms":1,"above_10ms":0}"#
        );
    }
}
