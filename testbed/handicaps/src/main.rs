// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Receives, rewrites the MAC addresses and sends, as fast as dpdk-rs can; each option slows one part of the loop down.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

mod forward;
mod switches;

use dpdk_rs::{Eal, EalOptions, Mempool, PortConfig};
use forward::{Counters, Macs, forward_loop};
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::{
    error::Error,
    process::ExitCode,
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Duration,
};
use switches::Switches;

const DESCRIPTORS: u16 = 1024;
const MANY_DESCRIPTORS: u16 = 4096;
const CACHE: u32 = 256;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("handicaps: error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).is_some_and(|argument| argument == "--version") {
        println!("handicaps {} (DPDK {})", env!("CARGO_PKG_VERSION"), dpdk_rs::dpdk_version());
        return Ok(());
    }
    let (eal, rest) = Eal::init(EalOptions::from_command_line())?;
    let switches = Switches::parse(rest)?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let descriptors = if switches.many_descriptors { MANY_DESCRIPTORS } else { DESCRIPTORS };
    // Both queues full, the cache, and one burst.
    let pool: Mempool = Mempool::builder("handicaps")
        .size(4 * u32::from(descriptors) - 1)
        .cache(if switches.no_cache { 0 } else { CACHE })
        .build(&eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
    let macs = Macs::new(port.mac_addr()?);
    let config = PortConfig::default().rx_descriptors(descriptors).tx_descriptors(descriptors);
    let (_port, mut rx, mut tx) = port.configure(&config, &pool)?.start()?;
    let (Some(rx), Some(tx)) = (rx.first_mut(), tx.first_mut()) else {
        return Err("the port has no queues".into());
    };

    println!("{}", json!({"type": "start"}));
    let clock = eal.clock();
    let start = clock.now();
    let counters = if switches.unregistered {
        // Still on the lcore's CPU: a thread inherits the CPU affinity.
        thread::scope(|scope| scope.spawn(|| forward_loop(rx, tx, macs, switches, &stop)).join())
            .map_err(|_| "the forwarding thread panicked")?
    } else {
        forward_loop(rx, tx, macs, switches, &stop)
    };
    print_final(counters, clock.duration(clock.now().since(start)));
    Ok(())
}

/// The final line of l2fwd-rs, with the fields that the count reads.
fn print_final(counters: Counters, duration: Duration) {
    let Counters { polls, received, sent } = counters;
    let seconds = duration.as_secs_f64();
    let total = json!({
        "rx_packets": received, "rx_polls": polls, "rx_empty_polls": 0, "rx_short": 0, "rx_burst_avg": 0, "rx_pps": 0,
        "tx_packets": sent, "tx_dropped": received - sent, "tx_pps": 0, "in_flight": 0,
    });
    println!("{}", json!({"type": "final", "time_s": seconds, "ports": [], "total": total, "balanced": true}));
}
