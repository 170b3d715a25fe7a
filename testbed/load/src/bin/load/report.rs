// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is printed: JSON on stdout.

use crate::{
    args::{Options, Rate},
    error::Error,
    record::{Counters, Record},
    service::Service,
};
use serde_json::{Value, json};
use std::io::{self, Write as _};

/// Says that all connections are open, which took so long.
pub(crate) fn write_start(options: &Options, opened_in_s: f64) -> Result<(), Error> {
    let Options { own, service, to, connections, poisson, per_connection, seconds, warm_up, seed, .. } = options;
    let (service, size) = match service {
        Service::Adder => ("adder", None),
        Service::Echo { size } => ("echo", Some(size)),
        Service::Origin => ("origin", None),
    };
    write(&json!({
        "type": "start",
        "program": "load",
        "version": env!("CARGO_PKG_VERSION"),
        "dpdk": dpdk_rs::dpdk_version(),
        "sockets": if own.is_some() { "dpdk" } else { "kernel" },
        "service": service,
        "size": size,
        "address": to.ip().to_string(),
        "port": to.port(),
        "connections": connections,
        "per_connection": per_connection,
        "poisson": poisson,
        "seconds": seconds,
        "warm_up_s": warm_up,
        "seed": seed,
        "opened_in_s": opened_in_s,
    }))
}

/// The result of a step; steps are numbered from 1 on.
pub(crate) fn write_step(step: usize, rate: Rate, record: &Record, interrupted: bool) -> Result<(), Error> {
    let (from, to) = match rate {
        Rate::Max => (None, None),
        Rate::Planned { from, to } => (Some(from), Some(to)),
    };
    let reasons = record.reasons();
    let seconds = record.duration_ns as f64 / 1e9;
    let lag = record.planned.map(|_| {
        let Record { lag, .. } = record;
        json!({"p50": lag.percentile(50.0), "p99": lag.percentile(99.0), "max": lag.max()})
    });
    let mut object = json!({
        "type": "step",
        "step": step,
        "loop": if rate == Rate::Max { "closed" } else { "open" },
        "rate": from,
        "rate_at_end": to,
        "valid": reasons.is_empty(),
        "reasons": reasons,
        "interrupted": interrupted,
        "duration_s": seconds,
        "cpu_share": record.cpu_share(),
        "absent_share": record.absent_share(),
        "requests_per_second": if seconds > 0.0 { record.in_time as f64 / seconds } else { 0.0 },
        "planned": record.planned,
        "latency_ns": record.latency.summary(),
        "service_time_ns": record.service_time.summary(),
        "lag_ns": lag,
    });
    add(&mut object, record.counters)?;
    write(&object)
}

/// The result of the whole run: the numbers of the invalid steps, and what was counted, the warm-up and the end included.
pub(crate) fn write_result(
    steps: usize,
    invalid: &[usize],
    reasons: &[String],
    totals: Counters,
    interrupted: bool,
) -> Result<(), Error> {
    let mut object = json!({
        "type": "result",
        "valid": invalid.is_empty() && reasons.is_empty(),
        "steps": steps,
        "invalid_steps": invalid,
        "reasons": reasons,
        "interrupted": interrupted,
    });
    add(&mut object, totals)?;
    write(&object)
}

fn add(object: &mut Value, counters: Counters) -> Result<(), Error> {
    if let (Value::Object(object), Value::Object(counters)) =
        (object, serde_json::to_value(counters).map_err(Error::failed)?)
    {
        object.extend(counters);
    }
    Ok(())
}

fn write(object: &Value) -> Result<(), Error> {
    writeln!(io::stdout(), "{object}").map_err(|error| Error::Failed(format!("cannot write to stdout: {error}")))
}
