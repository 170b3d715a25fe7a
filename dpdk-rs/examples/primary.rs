// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Passes the frames that its first port receives to another process, the example `secondary`, and sends the frames
//! that come back, without copying any. It ends after as many frames as the argument after `--` says (100,000 by
//! default), or at SIGINT or SIGTERM. Then it requests the other process's counters by a message.
//!
//! ```sh
//! cargo run -p dpdk-rs --example primary -- -l 0 -m 64 --file-prefix=pair --no-pci --vdev=net_null0
//! cargo run -p dpdk-rs --example secondary -- -l 1 --file-prefix=pair --no-pci    # meanwhile, elsewhere
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{Burst, Eal, EalOptions, Mempool, Packet, PortConfig, Ring, message::Outgoing};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, args) = Eal::init(EalOptions::from_command_line())?;
    let wanted: usize = match args.first() {
        Some(text) => text.parse().map_err(|error| format!("number of frames {text:?}: {error}"))?,
        None => 100_000,
    };
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let pool: Mempool = Mempool::builder("frames").build(&eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
    let (_port, mut rx_queues, mut tx_queues) = port.configure(&PortConfig::default(), &pool)?.start()?;
    let there = Ring::<Packet>::builder("to secondary").shared().build(&eal)?;
    let back = Ring::<Packet>::builder("to primary").shared().build(&eal)?;
    println!("waiting for a secondary process");

    let mut pkts = Burst::<_, 32>::new();
    let (mut passed, mut returned) = (0, 0);
    while returned < wanted && !stop.load(Ordering::Relaxed) {
        rx_queues[0].rx_up_to(&mut pkts, wanted - passed);
        passed += there.enqueue_burst(&mut pkts);
        pkts.clear(); // frees frames for which the ring had no room
        returned += back.dequeue_burst(&mut pkts, 32);
        tx_queues[0].tx(&mut pkts);
        pkts.clear();
    }
    println!("passed: {passed}, returned: {returned}");
    if returned >= wanted {
        for reply in eal.messages().request("pair/counted", &Outgoing::empty(), Duration::from_secs(10))? {
            let counted: [u64; 3] = reply.read()?;
            println!("counted elsewhere: {}", counted.iter().sum::<u64>());
        }
    }
    Ok(())
} // the rings remain, for the secondary process
