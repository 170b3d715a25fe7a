// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Starts every port with one RX queue, stops and resets it, and starts it with two queues. A program does this to
//! change the number of queues, or when the device needs a reset (`PortEvent::NeedsReset`).
//!
//! ```sh
//! cargo run -p dpdk-rs --example port_reset -- -a 0000:18:00.0
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{
    Eal, EalOptions, Mempool, PortConfig,
    port::{ResetRefused, StartedPort},
};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
    let pool: Mempool = Mempool::builder("pool").build(&eal)?;
    for port in eal.ports() {
        let started = port.configure(&PortConfig::default(), &pool)?.start()?;
        tell("started", &started);
        let (port, rx_queues, tx_queues) = started;
        let received = port.select_xstats(["rx_good_packets"])?;
        let started = match port.stop(rx_queues, tx_queues)?.reset() {
            Ok(port) => port.configure(&PortConfig::default().rx_queues(2), &pool)?.start()?,
            // The driver has no reset. The port is unchanged.
            Err(ResetRefused { port: Some(port), error, .. }) => {
                println!("{error}");
                port.start()?
            }
            Err(refused) => return Err(refused.into()),
        };
        tell("started again", &started);
        // A port may have other counters after a reset.
        match started.0.read_xstats(&received, &mut [0]) {
            Ok(()) => println!("its counters are those of before"),
            Err(error) => println!("{error}"),
        }
    }
    Ok(())
}

fn tell(what: &str, (port, rx_queues, _tx_queues): &StartedPort<()>) {
    println!("port {} ({}) {what}: RX queues: {}", port.id(), port.name(), rx_queues.len());
}
