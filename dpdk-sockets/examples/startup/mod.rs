// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the examples of the runtime have in common: a stack on the first port, and a loop that signals end.
#![forbid(unsafe_code)]

use core::time::Duration;
use dpdk_rs::{Eal, EalOptions, Mempool};
use dpdk_sockets::runtime::Runtime;
use dpdk_sockets::watch::Telemetry;
use dpdk_sockets::wire::{QueuePair, segmentation_offloads};
use dpdk_sockets::{Config, IpNet, Stack};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// How long connections may take to finish after a signal.
const GRACE: Duration = Duration::from_secs(5);

/// Runs a server until SIGINT or SIGTERM.
///
/// The command line is `[EAL OPTIONS] [-- ADDRESS/PREFIX[,ADDRESS/PREFIX] [MORE]]`, by default 192.0.2.1/24. `serve` is called with the
/// words after `--`; `what` says what it serves.
pub(crate) fn run<F: Future<Output = std::io::Result<()>> + 'static>(
    what: &str,
    serve: impl FnOnce(&[String]) -> Result<F, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let (eal, args) = Eal::init(EalOptions::from_command_line())?;
    let text = args.first().map_or("192.0.2.1/24", String::as_str);
    let addresses: Vec<IpNet> = text
        .split(',')
        .map(str::parse)
        .collect::<Result<_, _>>()
        .map_err(|_| format!("'{text}' are no addresses: give some such as 192.0.2.1/24,2001:db8::1/64"))?;
    let server = serve(&args)?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }

    // Mbufs for long segments, which the device cuts, if it can.
    let pool: Mempool = Mempool::builder("pool").size(2047).data_room(16_384).build(&eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
    let offloads = segmentation_offloads(&port.info()?);
    let (port, mut rx, mut tx) = port.configure(&offloads, &pool)?.start()?;
    let wire = QueuePair::new(&eal, rx.remove(0), tx.remove(0), pool);
    // Neighbor discovery asks a group for an IPv6 address. A device without a filter refuses, and receives all frames.
    let _ = port.set_allmulticast(true);
    let mut config = Config::new(port.mac_addr()?, addresses[0]);
    config.addresses = addresses;
    let mut stack = Stack::new(wire, config)?;
    let telemetry = Telemetry::register(&eal)?;
    telemetry.add("server", &mut stack)?;
    let mut runtime = Runtime::new(stack);
    let server = runtime.spawn(server);
    println!("port {} ({}): {text} at {} serves {what}", port.id(), port.name(), port.mac_addr()?);

    while !stop.load(Relaxed) && !server.is_finished() {
        runtime.poll();
    }
    if server.is_finished() {
        runtime.block_on(server)??;
    }
    println!("{} connections were reset", runtime.shutdown_timeout(GRACE));
    Ok(())
}
