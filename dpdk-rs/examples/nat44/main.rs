// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A gateway that hides the hosts of one network behind one address of another (NAT44). It translates TCP, UDP and ICMP
//! echoes from the first port to the second and back. Each worker lcore has one RX queue of either port and its own
//! flows. The gateway answers and sends ARP requests, ends flows that are idle for a minute, publishes its counters on
//! DPDK's telemetry socket (`/nat44/workers`), and ends at SIGINT or SIGTERM. The arguments after `--` are its
//! addresses inside and outside.
//!
//! It runs as root, for example between two network namespaces that act as two hosts:
//!
//! ```sh
//! cargo build --release -p dpdk-rs --example nat44
//! target/release/examples/nat44 --no-huge -m 128 --no-pci --lcores='(0-2)@(0,1)' \
//!     --vdev=net_tap0,iface=inside --vdev=net_tap1,iface=outside -- 10.0.0.1 192.0.2.1
//! for end in inside outside; do ip netns add $end; ip link set $end netns $end; done    # elsewhere, once both ports are printed
//! ip -n inside addr add 10.0.0.2/24 dev inside; ip -n inside link set inside up
//! ip -n inside route add default via 10.0.0.1
//! ip -n outside addr add 192.0.2.2/24 dev outside; ip -n outside link set outside up
//! ip netns exec inside ping 192.0.2.2
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

mod frame;
mod worker;

use dpdk_rs::{
    Eal, EalOptions, MacAddr, Mempool, Port, PortConfig, Ring, TxBuffer,
    lcore::{self, StopToken},
    lookup::{HashTable, HashWriter},
    port::Started,
    telemetry::{TelemetryCommand, Value},
    timer::{Timer, Timers},
};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::{
    error::Error,
    net::Ipv4Addr,
    sync::{Arc, atomic::AtomicBool, atomic::Ordering},
    thread,
    time::Duration,
};
use worker::{Counters, Learnt, Link, Worker};

/// The outside ports for flows.
const PORTS: std::ops::Range<u16> = 1024..17_408;
const IDLE: Duration = Duration::from_secs(60);
/// How often a worker asks DPDK for expired timers.
const RESOLUTION: Duration = Duration::from_millis(1);

/// The whole gateway. The EAL stays on the thread that created it, and so does this struct; the workers move to their
/// lcores.
struct Gateway {
    eal: Eal,
    ports: Vec<Port<Started>>,
    workers: Vec<Worker>,
    neighbours: HashWriter<u32, MacAddr>,
    learnt: Ring<Learnt>,
    timers: Timers,
    // Kept, since dropping a timer stops it.
    _ageing: Vec<Timer>,
    _telemetry: TelemetryCommand,
}

impl Gateway {
    fn new(options: EalOptions) -> Result<Self, Box<dyn Error>> {
        let (eal, args) = Eal::init(options)?;
        let [inside, outside] = &args[..] else {
            return Err("give the gateway's addresses inside and outside after --".into());
        };
        let address = |text: &String| text.parse::<Ipv4Addr>().map_err(|error| format!("address {text:?}: {error}"));
        let addresses = [address(inside)?, address(outside)?];
        let lcores = eal.worker_lcores();
        if lcores.is_empty() {
            return Err("no worker lcore: give two lcores or more with --lcores".into());
        }
        let pool: Mempool = Mempool::builder("frames").size(16_383).build(&eal)?;
        let clock = eal.clock();
        let count = u16::try_from(lcores.len())?;
        let (mut ports, mut links) = (Vec::new(), Vec::new());
        let found = eal.ports();
        if found.len() != 2 {
            return Err(format!("{} ports: give two with --vdev or -a, the inside first", found.len()).into());
        }
        for (port, address) in found.into_iter().zip(addresses) {
            let config = PortConfig::default().rx_queues(count).tx_queues(count);
            let (port, rx, tx) = port.configure(&config, &pool)?.start()?;
            let mac = port.mac_addr()?;
            println!("port {} ({}): {address} at {mac}", port.id(), port.name());
            links.push(rx.into_iter().zip(tx).map(move |(rx, tx)| {
                let tx = TxBuffer::new(tx, 32, Duration::from_micros(100), clock);
                Link { rx, tx, mac, address }
            }));
            ports.push(port);
        }
        let (Some(outside), Some(inside)) = (links.pop(), links.pop()) else { unreachable!("a link for each port") };

        let (neighbours, reader) = HashTable::builder("neighbours").build_shared(&eal)?;
        let learnt = Ring::builder("learnt").build(&eal)?;
        let inboxes: Result<Vec<_>, _> =
            (0..count).map(|number| Ring::builder(format!("inbox {number}")).build(&eal)).collect();
        let inboxes = inboxes?;
        let timers = Timers::new(&eal)?;
        let (mut workers, mut ageing, mut counters) = (Vec::new(), Vec::new(), Vec::new());
        for (number, (inside, outside)) in inside.zip(outside).enumerate() {
            let is_due = Arc::new(AtomicBool::new(false));
            let due = Arc::clone(&is_due);
            let timer = timers.timer(move || due.store(true, Ordering::Relaxed));
            timer.arm_periodic(lcores[number].id(), Duration::from_secs(1))?;
            ageing.push(timer);
            let own: Arc<Counters> = Arc::default();
            counters.push(Arc::clone(&own));
            let mut free_ports: Vec<u16> = PORTS.filter(|port| usize::from(*port) % lcores.len() == number).collect();
            free_ports.reverse(); // ports are taken from the end
            let entries = u32::try_from(free_ports.len())?;
            workers.push(Worker {
                number,
                inside,
                outside,
                flows: HashTable::builder(format!("flows {number}")).entries(entries).build(&eal)?,
                back: HashTable::builder(format!("back {number}")).entries(entries).build(&eal)?,
                free_ports,
                inboxes: inboxes.clone(),
                neighbours: reader.clone(),
                learnt: learnt.clone(),
                pool: pool.clone(),
                clock,
                idle: clock.cycles(IDLE),
                is_due,
                counters: own,
                translated: 0,
                dropped: 0,
            });
        }
        let _telemetry = eal.register_telemetry("/nat44/workers", "What each worker counts.", move |_| {
            Value::dict(counters.iter().enumerate().map(|(number, counters)| {
                let counts =
                    [("translated", &counters.translated), ("dropped", &counters.dropped), ("flows", &counters.flows)];
                let counts = counts.map(|(name, count)| (name, Value::from(count.load(Ordering::Relaxed))));
                (format!("worker{number}"), Value::dict(counts))
            }))
        })?;
        Ok(Self { eal, ports, workers, neighbours, learnt, timers, _ageing: ageing, _telemetry })
    }

    /// Runs until the token is stopped, or a worker ends.
    fn run(&mut self, stop: &StopToken) -> Result<(), Box<dyn Error>> {
        let Self { eal, workers, neighbours, learnt, timers, .. } = self;
        lcore::scope(eal, |scope| {
            let _guard = stop.stop_on_drop();
            let mut handles = Vec::new();
            for (lcore, worker) in eal.worker_lcores().into_iter().zip(workers) {
                let timers = timers.poll_every(RESOLUTION);
                handles.push(scope.launch(lcore.id(), || worker.run(timers, stop))?);
            }
            while !stop.is_stopped() {
                while let Some(Learnt { address, mac }) = learnt.dequeue() {
                    // If the table is full, further strangers are ignored.
                    let _ = neighbours.insert(address.to_bits(), mac);
                }
                thread::sleep(Duration::from_millis(1));
            }
            for handle in handles {
                handle.join()??;
            }
            Ok(())
        })?
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let stop = StopToken::new();
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, stop.flag())?;
    }
    let mut gateway = Gateway::new(EalOptions::from_command_line())?;
    println!("translating on {} lcores, stop with Ctrl-C", gateway.workers.len());
    gateway.run(&stop)?;
    for worker in &gateway.workers {
        println!("worker {}: {} frames translated, {} dropped", worker.number, worker.translated, worker.dropped);
    }
    for port in &gateway.ports {
        let stats = port.stats()?;
        println!("port {}: {} frames in, {} out", port.id(), stats.ipackets, stats.opackets);
    }
    Ok(())
}
