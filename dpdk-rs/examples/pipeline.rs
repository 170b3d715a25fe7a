// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The main lcore receives frames from the first port and passes them through a ring to a worker lcore, which looks up
//! the routes of their IPv4 destinations. A timer ends both.
//!
//! ```sh
//! cargo run -p dpdk-rs --example pipeline -- --no-huge -m 128 --no-pci --lcores='(0-1)@0' --vdev=net_null0
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{
    Burst, Eal, EalOptions, Mempool, Packet, PortConfig, Ring, lcore, lookup::Lpm, ring::Consumer, timer::Timers,
};
use std::{
    error::Error,
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

/// The destination of an IPv4 packet after an Ethernet header.
fn destination(packet: &Packet) -> Option<Ipv4Addr> {
    let bytes: [u8; 4] = packet.data().get(30..34)?.try_into().ok()?;
    Some(Ipv4Addr::from(bytes))
}

/// Takes frames out of the ring until it is empty and `stop` is set. Returns how many had a route, and how many had
/// none.
fn look_up(mut ring: Consumer<Packet>, routes: &Lpm, stop: &AtomicBool) -> [u64; 2] {
    let mut pkts = Burst::<_, 32>::new();
    let mut counts = [0; 2];
    loop {
        let stopped = stop.load(Ordering::Acquire);
        if ring.dequeue_burst(&mut pkts, 32) == 0 && stopped {
            return counts;
        }
        for packet in &pkts {
            let route = destination(packet).and_then(|address| routes.lookup(address));
            counts[usize::from(route.is_none())] += 1;
        }
        pkts.clear();
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
    let worker = *eal.worker_lcores().first().ok_or("no worker lcore: give two with --lcores")?;
    let pool: Mempool = Mempool::builder("pool").build(&eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
    let (_port, mut rx_queues, _tx_queues) = port.configure(&PortConfig::default(), &pool)?.start()?;

    let mut routes = Lpm::builder("routes").build(&eal)?;
    routes.add(Ipv4Addr::new(0, 0, 0, 0), 8, 1)?;
    let (mut to_worker, from_main) = Ring::<Packet>::builder("frames").capacity(1024).build_spsc(&eal)?;

    let stop = Arc::new(AtomicBool::new(false));
    let timers = Timers::new(&eal)?;
    let ends = Arc::clone(&stop);
    let timer = timers.timer(move || ends.store(true, Ordering::Release));
    timer.arm(eal.main_lcore(), Duration::from_millis(100))?;
    let clock = eal.clock();
    let mut timers = timers.poll_every(Duration::from_millis(1));

    let (passed, counts) = lcore::scope(&eal, |scope| {
        let handle = scope.launch(worker.id(), || look_up(from_main, &routes, &stop))?;
        let mut pkts = Burst::<_, 32>::new();
        let mut passed = 0;
        while !stop.load(Ordering::Relaxed) {
            rx_queues[0].rx(&mut pkts);
            passed += to_worker.enqueue_burst(&mut pkts) as u64;
            pkts.clear(); // frees frames for which the ring had no room
            timers.manage(clock.now())?;
        }
        Ok::<_, Box<dyn Error>>((passed, handle.join()?))
    })??;
    println!("passed: {passed}, with a route: {}, without: {}", counts[0], counts[1]);
    Ok(())
}
