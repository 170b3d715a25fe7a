// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Configures and starts every port, with one RX and one TX queue each.
//!
//! ```sh
//! cargo run -p dpdk-rs --example ethdev_queues -- --no-huge -m 64 --no-pci --vdev=net_ring0 --vdev=net_ring1
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{Eal, EalOptions, Mempool, PortConfig};
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
    let pool: Mempool = Mempool::builder("pool").build(&eal)?;
    let mut ports = Vec::new();
    for port in eal.ports() {
        // configure the device, create and configure 1 RX and 1 TX queue
        let (port, rx_queues, tx_queues) = port.configure(&PortConfig::default(), &pool)?.start()?;
        port.set_promiscuous(true)?;
        ports.push((port, rx_queues, tx_queues));
    }
    // ...
    for (port, rx_queues, tx_queues) in &ports {
        let (rx, tx) = (rx_queues.len(), tx_queues.len());
        println!("port {} ({}): RX queues: {rx}, TX queues: {tx}, link {}", port.id(), port.name(), port.link()?);
    }
    Ok(())
} // dropping the ports and queues calls rte_eth_dev_stop() and rte_eth_dev_close()
