// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Layer 2 forwarding with DPDK in safe Rust: reads in the order of the calls in `main` and `run`. The twin of l2fwd-c.
#![forbid(unsafe_code)]

mod args;
mod error;
mod forward;
mod idle;
mod observation;
mod port;
#[cfg(feature = "rewrite")]
mod rewrite;
mod stats;
mod stats_json;
mod topology;

use args::{Command, Options, parse_args, print_usage};
use dpdk_rs::{
    Clock, Eal, EalError, Tsc,
    diagnosis::{self, Finding},
    lcore,
};
use error::{Error, UsageError};
use forward::{QueueCounters, QueuePair, forward_loop};
use idle::Idle;
use observation::{enable_capture, start_telemetry};
use port::{
    ForwardingPort, Pools, Queues, Started, can_reset, check_limits, check_mask, report_links, reset_ports, setup_port,
};
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};
use stats::{Snapshot, collect, print_reset, print_stats};
use stats_json::StatsJson;
use std::{
    collections::BTreeMap,
    env,
    io::{self, Write},
    process::ExitCode,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};
use topology::{PortPair, QueueAssignment, assign_queues, pair_ports};

const PROGRAM: &str = "l2fwd-rs";
/// How often to look at the links.
const LINK_INTERVAL: Duration = Duration::from_secs(1);

fn main() -> ExitCode {
    let result = match parse_args(env::args_os()) {
        Ok(Command::Help) => {
            // A reader who has closed the pipe has read enough.
            let _ = print_usage(&mut io::stdout(), PROGRAM);
            Ok(())
        }
        Ok(Command::Version) => {
            let version = env!("CARGO_PKG_VERSION");
            let _ = writeln!(io::stdout(), "{PROGRAM} {version} (DPDK {})", dpdk_rs::dpdk_version());
            Ok(())
        }
        Ok(Command::Run { eal_args, options }) => run(eal_args, &options),
        Err(error) => Err(error.into()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => error.report(),
    }
}

fn run(eal_args: Vec<String>, options: &Options) -> Result<(), Error> {
    let mut json = StatsJson::open(options.stats_json.as_deref())?;
    let (eal, rest) = Eal::init(eal_args.clone()).map_err(|error| init_error(&eal_args, &error))?;
    if let Some(argument) = rest.into_iter().next() {
        return Err(UsageError::Unexpected(argument).into());
    }
    // Not before: the EAL may wait for a device's peer, and a signal then has to end the program.
    let signals = install_signals()?;
    let clock = eal.clock();
    let (pairs, assignments) = plan(&eal, options)?;
    if options.capture {
        enable_capture(&eal)?;
    }
    let (mut ports, queues) = setup_ports(&eal, options, &pairs)?;
    let counters: Arc<[QueueCounters]> = assignments.iter().map(|_| QueueCounters::default()).collect();
    let mut work = hand_out_work(options, &ports, queues, &assignments, &counters, clock);
    #[cfg(feature = "rewrite")]
    let mut rejected = 0;
    let _telemetry = start_telemetry(&eal, &ports, &assignments, &counters)?;

    let mut text: Box<dyn Write> = if json.is_stdout() { Box::new(io::stderr()) } else { Box::new(io::stdout()) };
    let _ = print_start(&mut text, options, &ports, &assignments);
    json.write_start(PROGRAM, options, &ports, &assignments);

    let mut timer = Timer::new(options, clock);
    let mut before = Snapshot::default();
    loop {
        forward(&eal, &mut work, &signals, clock, options.idle_sleep, |now| match timer.see_to_time(now) {
            Due::Statistics => {
                let snapshot = collect(&ports, &assignments, &counters, timer.seconds(now));
                let _ = print_stats(&mut text, &snapshot, &before);
                json.write_stats(&snapshot, &before);
                before = snapshot;
            }
            Due::Links => {
                let _ = report_links(&mut ports, &mut text);
            }
            Due::End => signals.stop_for_good(),
            Due::Nothing => {}
        })?;
        if signals.stopped_for_good() {
            break;
        }
        if can_reset(&ports) {
            #[cfg(feature = "rewrite")]
            {
                rejected += count_rejected(&work);
            }
            let begin = timer.seconds(clock.now());
            let (started, queues) = reset_ports(ports, take_back_queues(work))?;
            ports = started;
            work = hand_out_work(options, &ports, queues, &assignments, &counters, clock);
            let end = timer.seconds(clock.now());
            let _ = print_reset(&mut text, end - begin);
            json.write_reset(end, end - begin);
        }
    }

    // What is left in the buffers after the last flush, which a balance must not derive from the other counters.
    let in_flight: usize = work.values().flatten().map(QueuePair::buffered).sum();
    let last = collect(&ports, &assignments, &counters, timer.seconds(clock.now())).finish(in_flight as u64);
    // Rates over the whole run: since a snapshot of nothing.
    let _ = print_stats(&mut text, &last, &Snapshot::default());
    json.write_stats(&last, &Snapshot::default());
    #[cfg(feature = "rewrite")]
    if options.rewrite.is_some() {
        rejected += count_rejected(&work);
        let _ = writeln!(
            text,
            "l2fwd: rewriting rejected {rejected} frames, which were forwarded unchanged, or dropped if too short"
        );
    }
    Ok(())
}

/// What signals, and --duration, want of the lcores.
#[derive(Default)]
struct Signals {
    /// Read by all lcores, which then leave their queues.
    stop: Arc<AtomicBool>,
    /// Set before it where that is for good, and not only until the ports are reset.
    for_good: Arc<AtomicBool>,
}

impl Signals {
    fn stop_for_good(&self) {
        self.for_good.store(true, SeqCst);
        self.stop.store(true, SeqCst);
    }

    /// Whether the lcores, which have all left their queues, are not to come back. A signal that comes from now on counts
    /// again: the flag is taken back before the other one is looked at.
    fn stopped_for_good(&self) -> bool {
        self.stop.swap(false, SeqCst);
        self.for_good.load(SeqCst)
    }
}

/// SIGINT and SIGTERM end the program, SIGUSR1 has the ports reset. SIGPIPE is ignored from the start, as in every Rust
/// program.
fn install_signals() -> Result<Signals, Error> {
    let signals = Signals::default();
    let Signals { stop, for_good } = &signals;
    // The flags of a signal are set in the order of their registration.
    for (signal, flag) in [(SIGINT, for_good), (SIGTERM, for_good), (SIGINT, stop), (SIGTERM, stop), (SIGUSR1, stop)] {
        signal_hook::flag::register(signal, Arc::clone(flag)).map_err(Error::failed)?;
    }
    Ok(signals)
}

/// Which ports are used, and which lcore does what.
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
        let pool = pools.open(eal, &port, options, queue_pairs)?;
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

/// Joins the queues to pairs, by lcore.
fn hand_out_work<'a>(
    options: &Options,
    ports: &[ForwardingPort],
    queues: BTreeMap<u16, Queues>,
    assignments: &[QueueAssignment],
    counters: &'a [QueueCounters],
    clock: Clock,
) -> BTreeMap<u32, Vec<QueuePair<'a>>> {
    let (mut rx, mut tx) = (BTreeMap::new(), BTreeMap::new());
    for queue in queues.into_values() {
        rx.extend(queue.0.into_iter().map(|queue| ((queue.port().get(), queue.id()), queue)));
        tx.extend(queue.1.into_iter().map(|queue| ((queue.port().get(), queue.id()), queue)));
    }
    let mut work = BTreeMap::<u32, Vec<QueuePair<'a>>>::new();
    for (assignment, counters) in assignments.iter().zip(counters) {
        let peer = ports.iter().find(|port| port.port.id().get() == assignment.peer);
        let rx = rx.remove(&(assignment.port, assignment.queue));
        let tx = tx.remove(&(assignment.peer, assignment.queue));
        // The peers are a permutation of the ports, so each queue is there, and is taken once.
        if let (Some(peer), Some(rx), Some(tx)) = (peer, rx, tx) {
            let pair = QueuePair::new(rx, tx, peer.mac, options.burst, options.update_macs, counters, clock);
            #[cfg(feature = "rewrite")]
            let pair = pair.rewriting(options.rewrite);
            work.entry(assignment.lcore).or_default().push(pair);
        }
    }
    work
}

/// Takes the pairs apart: the queues by port number, which the ports need to be stopped.
fn take_back_queues(work: BTreeMap<u32, Vec<QueuePair<'_>>>) -> BTreeMap<u16, Queues> {
    let mut queues = BTreeMap::<u16, Queues>::new();
    for pair in work.into_values().flatten() {
        let (rx, tx) = pair.into_queues();
        queues.entry(rx.port().get()).or_default().0.push(rx);
        queues.entry(tx.port().get()).or_default().1.push(tx);
    }
    queues
}

#[cfg(feature = "rewrite")]
fn count_rejected(work: &BTreeMap<u32, Vec<QueuePair<'_>>>) -> u64 {
    work.values().flatten().filter_map(QueuePair::rejected).sum()
}

/// Why the EAL did not start. It sets no error number where another process has the file prefix.
fn init_error(eal_args: &[String], error: &EalError) -> Error {
    if *error == EalError::NoArguments {
        return UsageError::NoPortMask.into();
    }
    match diagnosis::of_start(eal_args, error).first() {
        Some(finding @ Finding::PrefixInUse { .. }) => Error::failed(format!("cannot initialize the EAL: {finding}")),
        _ => Error::failed(error),
    }
}

fn print_start(
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

/// What the main lcore does besides forwarding, by the clock.
struct Timer {
    clock: Clock,
    start: Tsc,
    period: u64,
    next_period: Tsc,
    next_links: Tsc,
    end: Option<Tsc>,
}

enum Due {
    Statistics,
    Links,
    End,
    Nothing,
}

impl Timer {
    fn new(options: &Options, clock: Clock) -> Self {
        let start = clock.now();
        let cycles = |seconds: u32| clock.cycles(Duration::from_secs(u64::from(seconds)));
        let period = cycles(options.period_s);
        let end = options.duration_s.map(|seconds| start.after(cycles(seconds)));
        Self { clock, start, period, next_period: start.after(period), next_links: start, end }
    }

    fn seconds(&self, now: Tsc) -> f64 {
        self.clock.duration(now.since(self.start)).as_secs_f64()
    }

    fn see_to_time(&mut self, now: Tsc) -> Due {
        if self.period > 0 && now >= self.next_period {
            while self.next_period <= now {
                self.next_period = self.next_period.after(self.period);
            }
            Due::Statistics
        } else if now >= self.next_links {
            self.next_links = now.after(self.clock.cycles(LINK_INTERVAL));
            Due::Links
        } else if self.end.is_some_and(|end| now >= end) {
            Due::End
        } else {
            Due::Nothing
        }
    }
}

/// Forwards on all lcores that have work, until the stop flag is set. The main lcore, which calls this, sees to the time.
fn forward(
    eal: &Eal,
    work: &mut BTreeMap<u32, Vec<QueuePair<'_>>>,
    signals: &Signals,
    clock: Clock,
    idle_sleep: bool,
    see_to_time: impl FnMut(Tsc),
) -> Result<(), Error> {
    let main = eal.main_lcore().get();
    let workers = eal.worker_lcores();
    let stop: &AtomicBool = &signals.stop;
    lcore::scope(eal, |scope| {
        let mut own: &mut [QueuePair<'_>] = &mut [];
        let mut launched = Ok(());
        for (lcore, pairs) in work {
            if *lcore == main {
                own = pairs;
            } else if let Some(worker) = workers.iter().find(|worker| worker.id().get() == *lcore) {
                let idle = Idle::new(*lcore, idle_sleep);
                launched = scope.launch(worker.id(), || forward_loop(pairs, stop, clock, idle, |_| {})).map(drop);
            }
            if launched.is_err() {
                signals.stop_for_good();
                break;
            }
        }
        forward_loop(own, stop, clock, Idle::new(main, idle_sleep), see_to_time);
        launched.map_err(Error::from)
    })?
}
