// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Gives each worker lcore one RX queue of the first port. The worker polls it until all workers together have received
//! 10,000 frames.
//!
//! ```sh
//! cargo run -p dpdk-rs --example multiple_threads -- --no-huge -m 64 --no-pci --lcores='(0-2)@0' --vdev=net_null0
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{Burst, Eal, EalOptions, Mempool, PortConfig, RxQueue, lcore};
use std::{
    error::Error,
    sync::atomic::{AtomicUsize, Ordering},
};

/// Polls a queue. Returns how many frames it received.
fn lcore_function(mut rx_queue: RxQueue, total: &AtomicUsize) -> usize {
    let mut pkts = Burst::<_, 32>::new();
    let mut received = 0;
    while total.load(Ordering::Relaxed) < 10_000 {
        let count = rx_queue.rx(&mut pkts);
        pkts.clear();
        received += count;
        total.fetch_add(count, Ordering::Relaxed);
    }
    received
}

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
    let workers = eal.worker_lcores();
    let pool: Mempool = Mempool::builder("pool").build(&eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
    let config = PortConfig::default().rx_queues(u16::try_from(workers.len())?);
    let (_port, rx_queues, _tx_queues) = port.configure(&config, &pool)?.start()?;

    let total = AtomicUsize::new(0); // on the stack, borrowed by every lcore
    lcore::scope(&eal, |scope| {
        let mut handles = Vec::new();
        for (worker, rx_queue) in workers.iter().zip(rx_queues) {
            handles.push(scope.launch(worker.id(), || lcore_function(rx_queue, &total))?);
        }
        for handle in handles {
            let lcore = handle.lcore();
            println!("lcore {lcore} received {}", handle.join()?);
        }
        Ok::<(), Box<dyn Error>>(())
    })??;
    println!("total: {}", total.into_inner());
    Ok(())
}
