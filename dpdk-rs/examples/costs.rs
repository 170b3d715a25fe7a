// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The costs of the steps of a forwarding loop, in cycles of the time stamp counter per packet: the best of many
//! rounds, so that other work on the machine matters little. The argument after `--` is the number of rounds, 1,000 by
//! default.
//!
//! ```sh
//! cargo run --release -p dpdk-rs --example costs -- --no-huge -m 64 --no-pci --vdev=net_null0
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{Burst, Clock, Eal, EalOptions, Mempool, Packet, PortConfig, RxQueue};
use std::{error::Error, mem, thread};

const STEPS: usize = 100;

#[derive(Clone, Copy)]
struct Stopwatch {
    clock: Clock,
    rounds: usize,
}

impl Stopwatch {
    /// Runs `step`, which returns how many packets it handled, repeatedly. Returns the cycles per packet of the best
    /// round.
    fn best(self, mut step: impl FnMut() -> usize) -> f64 {
        let round = |_| {
            let start = self.clock.now();
            let packets: usize = (0..STEPS).map(|_| step()).sum();
            self.clock.now().since(start) as f64 / packets as f64
        };
        (0..self.rounds).map(round).fold(f64::INFINITY, f64::min)
    }

    /// Receives bursts of `N` and frees each with one call.
    fn receive<const N: usize>(self, rx: &mut RxQueue) -> f64 {
        let mut burst = Burst::<_, N>::new();
        self.best(|| {
            let received = rx.rx(&mut burst);
            burst.clear();
            received
        })
    }
}

fn swap_addresses(packet: &mut Packet) {
    let Ok(data) = packet.data_mut() else { return };
    let Some((destination, rest)) = data.split_first_chunk_mut::<6>() else { return };
    let Some((source, _)) = rest.split_first_chunk_mut::<6>() else { return };
    mem::swap(destination, source);
}

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, args) = Eal::init(EalOptions::from_command_line())?;
    let rounds = args.first().map_or(Ok(1000), |rounds| rounds.parse())?;
    let watch = Stopwatch { clock: eal.clock(), rounds };
    let pool: Mempool = Mempool::builder("pool").build(&eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev=net_null0")?;
    let (_port, mut rx_queues, mut tx_queues) = port.configure(&PortConfig::default(), &pool)?.start()?;
    let (rx, tx) = (&mut rx_queues[0], &mut tx_queues[0]);
    let mut burst = Burst::<_, 32>::new();
    let report = |what, cycles| println!("{what:<46} {cycles:>6.1}");

    report("receive and free, bursts of 1", watch.receive::<1>(rx));
    report("receive and free, bursts of 4", watch.receive::<4>(rx));
    report("receive and free, bursts of 32", watch.receive::<32>(rx));
    report("receive and free, bursts of 128", watch.receive::<128>(rx));
    let outside = thread::scope(|scope| scope.spawn(|| watch.receive::<32>(rx)).join());
    report("the same with 32, in a thread that is not an lcore", outside.map_err(|_| "the thread panicked")?);
    let singly = watch.best(|| {
        let received = rx.rx(&mut burst);
        burst.drain().for_each(drop);
        received
    });
    report("receive and free one by one, bursts of 32", singly);
    let forward = watch.best(|| {
        rx.rx(&mut burst);
        tx.tx(&mut burst)
    });
    report("receive and send, bursts of 32", forward);
    let rewrite = watch.best(|| {
        rx.rx(&mut burst);
        burst.iter_mut().for_each(swap_addresses);
        tx.tx(&mut burst)
    });
    report("the same, with the addresses swapped", rewrite);
    let in_bulk = watch.best(|| {
        let count = pool.alloc_bulk(&mut burst);
        burst.clear();
        count
    });
    report("allocate and free in bulk, 32", in_bulk);
    let singly = watch.best(|| [(); 32].map(|()| pool.alloc()).iter().flatten().count());
    report("allocate and free one by one, 32", singly);
    Ok(())
}
