// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors
#![allow(clippy::print_stdout)]

//! Forwards frames from each port to the next port, and from the last one to the first.
//! Usage: forwarder [EAL OPTIONS] [-- FRAMES]; without FRAMES it runs until it is interrupted.
#![forbid(unsafe_code)]

use dpdk_rs::{Burst, Eal, EalOptions, Mempool, PortConfig};
use std::{error::Error, io};

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, args) = Eal::init(EalOptions::from_command_line())?;
    let limit = args.first().map_or(Ok(u64::MAX), |frames| frames.parse())?;

    let pool: Mempool = Mempool::builder("pool").size(8191).build(&eal)?;
    let (mut ports, mut receivers, mut senders) = (Vec::new(), Vec::new(), Vec::new());
    for port in eal.ports() {
        let (port, rx, tx) = port.configure(&PortConfig::default(), &pool)?.start()?;
        port.set_promiscuous(true)?;
        println!("port {} ({}): link {}", port.id(), port.name(), port.link()?);
        ports.push(port);
        receivers.extend(rx);
        senders.extend(tx);
    }
    if ports.is_empty() {
        return Err(io::Error::other("no port: give one with --vdev or -a").into());
    }
    senders.rotate_left(1); // port 1 sends what port 0 receives, and so on

    let mut forwarded = 0;
    let mut burst = Burst::<_, 32>::new();
    while forwarded < limit {
        for (rx, tx) in receivers.iter_mut().zip(&mut senders) {
            rx.rx(&mut burst);
            forwarded += tx.tx(&mut burst) as u64;
            burst.clear(); // frees what the device did not accept
        }
    }

    for port in &ports {
        let stats = port.stats()?;
        println!("port {}: {} frames in, {} out", port.id(), stats.ipackets, stats.opackets);
    }
    Ok(())
}
