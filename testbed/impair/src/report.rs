// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is printed: JSON on stdout, and a line per second on stderr.

use crate::{error::Error, way::Way};
use core::time::Duration;
use serde::Serialize;
use serde_json::json;
use std::io::{self, Write as _};
use testbed_impair::Counters;

#[derive(Serialize)]
struct DirectionReport {
    rx_port: u16,
    tx_port: u16,
    #[serde(flatten)]
    counters: Counters,
}

impl DirectionReport {
    fn new(way: &Way) -> Self {
        Self { rx_port: way.rx_port, tx_port: way.tx_port, counters: way.counters() }
    }
}

/// Says that frames are forwarded from now on.
pub(crate) fn write_start(seed: u64) -> Result<(), Error> {
    let version = env!("CARGO_PKG_VERSION");
    let dpdk = dpdk_rs::dpdk_version();
    write(&json!({"type": "start", "program": "impair", "version": version, "dpdk": dpdk, "seed": seed}))
}

pub(crate) fn write_result(seed: u64, duration: Duration, ways: &[Way; 2]) -> Result<(), Error> {
    let (duration_s, directions) = (duration.as_secs_f64(), ways.each_ref().map(DirectionReport::new));
    write(&json!({"type": "result", "seed": seed, "duration_s": duration_s, "directions": directions}))
}

fn write(object: &serde_json::Value) -> Result<(), Error> {
    writeln!(io::stdout(), "{object}").map_err(|error| Error::Failed(format!("cannot write to stdout: {error}")))
}

/// Prints how many frames came and went so far.
pub(crate) fn print_line(now: Duration, ways: &[Way; 2]) {
    let [to_b, to_a] = ways.each_ref().map(|way| {
        let Counters { received, sent, .. } = way.counters();
        format!("{} to {}: received {received} sent {sent}", way.rx_port, way.tx_port)
    });
    // A failure to print must not end the run.
    let _ = writeln!(io::stderr(), "{:7.1} s  {to_b}  {to_a}", now.as_secs_f64());
}
