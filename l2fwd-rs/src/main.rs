// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Layer 2 forwarding with DPDK in safe Rust, the twin of l2fwd-c. Each function stands above its caller, in the order of
//! the calls; `forward.rs` handles the frames.
#![forbid(unsafe_code)]

mod args;
mod diagnosis;
mod error;
mod forward;
mod gaps;
mod idle;
mod observation;
mod port;
mod queue_pair;
mod report;
#[cfg(feature = "rewrite")]
mod rewrite;
mod signals;
mod stats;
mod stats_json;
mod topology;

use args::{Command, Options, parse_args, print_usage, print_version};
use diagnosis::diagnose_init;
use dpdk_rs::{Eal, EalOptions, lcore};
use error::{Error, UsageError};
use forward::forward_loop;
use observation::{enable_capture, start_telemetry};
use port::{ForwardingPort, Pools, Started, can_reset, check_limits, check_mask, reset_ports, setup_port};
use queue_pair::{QueueCounters, QueuePair, Work, hand_out_work, take_back_queues};
use report::Report;
use signals::Signals;
use stats_json::StatsJson;
use std::{env, io, mem, process::ExitCode, sync::Arc};
use topology::{PortPair, QueueAssignment, assign_queues, pair_ports};

const PROGRAM: &str = "l2fwd-rs";

struct Forwarder<'a> {
    eal: &'a Eal,
    options: &'a Options,
    signals: Signals,
    ports: Vec<ForwardingPort>,
    assignments: Vec<QueueAssignment>,
    counters: &'a [QueueCounters],
    work: Work<'a>,
    report: Report,
}

/// Starts the EAL. An argument that the EAL does not use is an error.
fn init_eal(eal_args: &[String]) -> Result<Eal, Error> {
    let options = EalOptions::from_command_line().without_own_args();
    let (eal, rest) = Eal::init(options).map_err(|error| diagnose_init(eal_args, &error))?;
    match rest.into_iter().next() {
        Some(argument) => Err(UsageError::Unexpected(argument).into()),
        None => Ok(eal),
    }
}

/// Chooses the ports, and assigns their queues to lcores.
fn plan(eal: &Eal, options: &Options) -> Result<(Vec<PortPair>, Vec<QueueAssignment>), Error> {
    check_mask(options.port_mask, &eal.ports())?;
    let pairs = pair_ports(options.port_mask, options.port_map.as_ref());
    let lcores: Vec<u32> = eal.lcores().into_iter().map(|lcore| lcore.id().get()).collect();
    let assignments = assign_queues(&pairs, options.queues_per_port, &lcores, options.queue_pairs_per_lcore)?;
    Ok((pairs, assignments))
}

fn setup_ports(eal: &Eal, options: &Options, pairs: &[PortPair]) -> Result<Started, Error> {
    let mut chosen = Vec::new();
    for port in eal.ports() {
        if let Some(pair) = pairs.iter().find(|pair| pair.port == port.id().get()) {
            check_limits(&port, options)?;
            chosen.push((port, *pair));
        }
    }
    let mut pools = Pools::default();
    let queue_pairs = pairs.len() * usize::from(options.queues_per_port);
    let mut with_pools = Vec::new();
    for (port, pair) in chosen {
        let pool = pools.open_pool(eal, &port, options, queue_pairs)?;
        with_pools.push((port, pair, pool));
    }
    let (mut ports, mut queues) = Started::default();
    for (port, pair, pool) in with_pools {
        let (port, port_queues) = setup_port(port, pair, options, &pool)?;
        queues.insert(pair.port, port_queues);
        ports.push(port);
    }
    Ok((ports, queues))
}

impl Forwarder<'_> {
    /// Forwards on all lcores that have work, until the stop flag is set. The main lcore, which calls this, also reports.
    fn forward(&mut self) -> Result<(), Error> {
        let Self { eal, options, signals, ports, assignments, counters, work, report } = self;
        let main = eal.main_lcore().get();
        let workers = eal.worker_lcores();
        let (stop, clock) = (&*signals.stop, eal.clock());
        lcore::scope(eal, |scope| {
            let mut own: &mut [QueuePair<'_>] = &mut [];
            let mut launched = Ok(());
            for (lcore, pairs) in work {
                if *lcore == main {
                    own = pairs;
                } else if let Some(worker) = workers.iter().find(|worker| worker.id().get() == *lcore) {
                    let forward = || forward_loop(pairs, stop, clock, *lcore, options.idle_sleep, |_| {});
                    launched = scope.launch(worker.id(), forward).map(drop);
                }
                if launched.is_err() {
                    signals.stop_for_good();
                    break;
                }
            }
            forward_loop(own, stop, clock, main, options.idle_sleep, |now| {
                report.update(ports, assignments, counters, now);
                if report.is_over(now) {
                    signals.stop_for_good();
                }
            });
            launched.map_err(Error::from)
        })?
    }

    /// Stops all ports and starts them again. No lcore uses a port meanwhile.
    fn reset(&mut self) -> Result<(), Error> {
        let begin = self.eal.clock().now();
        if !can_reset(&self.ports) {
            return Ok(());
        }
        let queues = take_back_queues(mem::take(&mut self.work));
        let (ports, queues) = reset_ports(mem::take(&mut self.ports), queues)?;
        self.work = hand_out_work(self.options, &ports, queues, &self.assignments, self.counters);
        self.ports = ports;
        self.report.add_reset(begin);
        Ok(())
    }

    /// Forwards until SIGINT, SIGTERM or `--duration` ends the program. SIGUSR1 resets the ports.
    fn forward_and_reset(&mut self) -> Result<(), Error> {
        loop {
            self.forward()?;
            if self.signals.stopped_for_good() {
                return Ok(());
            }
            self.reset()?;
        }
    }
}

fn run(eal_args: &[String], options: &Options) -> Result<(), Error> {
    let json = StatsJson::open(options.stats_json.as_deref())?;
    let eal = init_eal(eal_args)?;
    // Only now: a driver may wait for its peer forever in the EAL, and only the default action of a signal ends that wait.
    let signals = Signals::install()?;
    let (pairs, assignments) = plan(&eal, options)?;
    if options.capture {
        enable_capture(&eal)?;
    }
    let (ports, queues) = setup_ports(&eal, options, &pairs)?;
    let counters: Arc<[QueueCounters]> = assignments.iter().map(|_| QueueCounters::default()).collect();
    let work = hand_out_work(options, &ports, queues, &assignments, &counters);
    let _telemetry = start_telemetry(&eal, &ports, &assignments, &counters)?;
    let report = Report::new(json, options, eal.clock());
    let mut forwarder =
        Forwarder { eal: &eal, options, signals, ports, assignments, counters: &counters, work, report };
    let Forwarder { ports, assignments, report, .. } = &mut forwarder;
    report.begin(PROGRAM, options, ports, assignments);
    forwarder.forward_and_reset()?;
    let Forwarder { ports, assignments, work, report, .. } = &mut forwarder;
    report.finish(ports, assignments, &counters, work);
    #[cfg(feature = "rewrite")]
    rewrite::print_rejected(&mut report.text, options.rewrite);
    Ok(())
}

fn main() -> ExitCode {
    let result = match parse_args(env::args_os()) {
        // A closed pipe is not an error.
        Ok(Command::Help) => {
            let _ = print_usage(&mut io::stdout(), PROGRAM);
            Ok(())
        }
        Ok(Command::Version) => {
            let _ = print_version(&mut io::stdout(), PROGRAM);
            Ok(())
        }
        Ok(Command::Run { eal_args, options }) => run(&eal_args, &options),
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}
