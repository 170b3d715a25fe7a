// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors
#![allow(clippy::print_stdout)]

//! Sends back what it receives on TCP port 7 (RFC 862), with a stack on each lcore of `-l`.
//! Usage: cores [EAL OPTIONS] [-- ADDRESS/PREFIX], by default 192.0.2.1/24. Runs until SIGINT or SIGTERM.
#![forbid(unsafe_code)]

use core::time::Duration;
use dpdk_rs::port::RssFields;
use dpdk_rs::{Eal, EalOptions, Mempool, lcore};
use dpdk_sockets::group::Steering;
use dpdk_sockets::runtime::{Runtime, TcpListener, spawn};
use dpdk_sockets::wire::{QueuePair, checksum_offloads};
use dpdk_sockets::{Config, Counters, Stack};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tokio::io::copy;

/// How long connections may take to finish after a signal.
const GRACE: Duration = Duration::from_secs(5);

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, args) = Eal::init(EalOptions::from_command_line())?;
    let text = args.first().map_or("192.0.2.1/24", String::as_str);
    let address = text.parse().map_err(|_| format!("'{text}' is no address: give one such as 192.0.2.1/24"))?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }

    let count = u16::try_from(eal.lcores().len())?;
    let pool: Mempool = Mempool::builder("pool").build(&eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
    let info = port.info()?;
    let rss = (RssFields::IP | RssFields::TCP | RssFields::UDP).intersection(info.rss_fields);
    let config = checksum_offloads(&info).rx_queues(count).tx_queues(count).rss(rss);
    let (port, rx, tx) = port.configure(&config, &pool)?.start()?;

    let wires = rx.into_iter().zip(tx).map(|(rx, tx)| QueuePair::new(&eal, rx, tx, pool.clone())).collect();
    let device = Steering::of(&port);
    let who = if device.is_some() { "the device" } else { "a hash of the stacks" };
    let steering = device.unwrap_or_else(|| Steering::computed(count));
    let mut stacks = Stack::group(wires, &Config::new(port.mac_addr()?, address), steering)?;
    println!("port {} ({}): {count} stacks at {text} serve TCP port 7, steered by {who}", port.id(), port.name());

    let first = stacks.remove(0);
    let counters = lcore::scope(&eal, |scope| {
        let mut others = Vec::new();
        for (worker, stack) in eal.worker_lcores().iter().zip(stacks) {
            let stop = &stop;
            others.push(scope.launch(worker.id(), move || run(stack, stop))?);
        }
        let mut counters = vec![run(first, &stop)];
        for other in others {
            counters.push(other.join()?);
        }
        Ok::<_, Box<dyn Error>>(counters)
    })??;
    let each = |what: fn(&Counters) -> u64| counters.iter().map(what).collect::<Vec<_>>();
    println!("frames passed on by the stacks: {:?}", each(|stack| stack.passed_on));
    println!("connections accepted by the stacks: {:?}", each(|stack| stack.accepted));
    Ok(())
}

/// Serves on one lcore until it is stopped. Returns what the stack has counted.
fn run(stack: Stack<QueuePair>, stop: &AtomicBool) -> Counters {
    let mut runtime = Runtime::new(stack);
    let _server = runtime.spawn(serve());
    while !stop.load(Relaxed) {
        runtime.poll();
    }
    let counters = runtime.with_stack(|stack| stack.counters());
    runtime.shutdown_timeout(GRACE);
    counters
}

async fn serve() -> std::io::Result<()> {
    let listener = TcpListener::bind(([0, 0, 0, 0], 7).into()).await?;
    while let Ok((stream, _peer)) = listener.accept().await {
        spawn(async move {
            let (mut reader, mut writer) = stream.into_split();
            let _ = copy(&mut reader, &mut writer).await; // the connection's errors are its own
        });
    }
    Ok(())
}
