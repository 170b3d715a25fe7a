// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What other processes see of a running forwarder: frames by dpdk-dumpcap, counters by dpdk-telemetry.py.

use crate::{
    error::Error,
    port::ForwardingPort,
    queue_pair::QueueCounters,
    stats::{Snapshot, Totals, add_up},
    topology::QueueAssignment,
};
use dpdk_rs::{
    Eal,
    telemetry::{TelemetryCommand, Value},
};
use std::sync::Arc;

const STATS_COMMAND: &str = "/l2fwd/stats";
const STATS_HELP: &str = "Counters of the forwarder, by port and in total, since the start. No parameters.";

/// Lets dpdk-dumpcap capture frames.
pub(crate) fn enable_capture(eal: &Eal) -> Result<(), Error> {
    eal.enable_capture().map_err(Error::failed)
}

fn describe_totals(totals: &Totals) -> Vec<(String, Value)> {
    let counters = [
        ("rx_packets", totals.rx_packets),
        ("tx_packets", totals.tx_packets),
        ("tx_dropped", totals.tx_dropped),
        ("rx_short", totals.rx_short),
        ("rx_polls", totals.rx_polls),
        ("rx_empty_polls", totals.rx_empty_polls),
    ];
    counters.map(|(name, counter)| (name.to_owned(), counter.into())).into()
}

fn describe_snapshot(snapshot: &Snapshot) -> Value {
    let ports = snapshot.ports.iter().map(|port| (port.port.to_string(), Value::Dict(describe_totals(&port.totals))));
    let mut total = describe_totals(&snapshot.total);
    total.push(("in_flight".to_owned(), snapshot.in_flight.into()));
    Value::dict([("ports", Value::dict(ports)), ("total", Value::Dict(total))])
}

fn answer_stats(ports: &[u16], assignments: &[QueueAssignment], counters: &[QueueCounters]) -> Value {
    describe_snapshot(&add_up(ports, assignments, counters))
}

/// Reports the counters on DPDK's telemetry socket, until the value returned is dropped.
pub(crate) fn start_telemetry(
    eal: &Eal,
    ports: &[ForwardingPort],
    assignments: &[QueueAssignment],
    counters: &Arc<[QueueCounters]>,
) -> Result<TelemetryCommand, Error> {
    let ports: Vec<u16> = ports.iter().map(|port| port.port.id().get()).collect();
    let (assignments, counters) = (assignments.to_vec(), Arc::clone(counters));
    let answer = move |_: &str| answer_stats(&ports, &assignments, &counters);
    eal.register_telemetry(STATS_COMMAND, STATS_HELP, answer).map_err(|error| {
        let why = error.errno().map_or_else(|| error.to_string(), |errno| errno.to_string());
        Error::Failed(format!("cannot register telemetry command '{STATS_COMMAND}': {why}"))
    })
}

#[cfg(test)]
mod tests {
    use super::answer_stats;
    use crate::{
        queue_pair::QueueCounters,
        topology::{assign_queues, pair_ports},
    };
    use dpdk_rs::telemetry::Value;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn telemetry_reports_counters_by_port_and_in_total() {
        let pairs = pair_ports(0b11, None);
        let assignments = assign_queues(&pairs, 1, &[0], 2).unwrap_or_default();
        let counters = [QueueCounters::default(), QueueCounters::default()];
        counters[0].rx_packets.store(9, Relaxed);
        counters[0].tx_packets.store(4, Relaxed);
        counters[0].rx_short.store(1, Relaxed);
        counters[1].rx_polls.store(7, Relaxed);
        let answer = answer_stats(&[0, 1], &assignments, &counters);
        let totals = |numbers: [u64; 6]| {
            let names = ["rx_packets", "tx_packets", "tx_dropped", "rx_short", "rx_polls", "rx_empty_polls"];
            names.into_iter().zip(numbers).map(|(name, number)| (name.to_owned(), Value::Uint(number))).collect()
        };
        let mut total: Vec<_> = totals([9, 4, 0, 1, 7, 0]);
        total.push(("in_flight".to_owned(), Value::Uint(4)));
        let ports = [("0", Value::Dict(totals([9, 0, 0, 1, 0, 0]))), ("1", Value::Dict(totals([0, 4, 0, 0, 7, 0])))];
        assert_eq!(answer, Value::dict([("ports", Value::dict(ports)), ("total", Value::Dict(total))]));
    }
}
