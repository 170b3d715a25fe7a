// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Receives at least 1,000 frames on the first port, and sends them back.
//!
//! ```sh
//! cargo run -p dpdk-rs --example rx_tx -- --no-huge -m 64 --no-pci --vdev=net_null0
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{Burst, Eal, EalOptions, Mempool, PortConfig};
use std::error::Error;

const MAX_PKT_BURST: usize = 32;

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
    let pool: Mempool = Mempool::builder("pool").build(&eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
    let (_port, mut rx_queues, mut tx_queues) = port.configure(&PortConfig::default(), &pool)?.start()?;
    let (rx_queue, tx_queue) = (&mut rx_queues[0], &mut tx_queues[0]);

    let (mut received, mut sent) = (0, 0);
    let mut pkts = Burst::<_, MAX_PKT_BURST>::new();
    while received < 1000 {
        received += rx_queue.rx(&mut pkts);
        // ...
        sent += tx_queue.tx(&mut pkts);
        pkts.clear(); // frees what the device did not accept
    }
    println!("received: {received}, sent: {sent}");
    Ok(())
}
