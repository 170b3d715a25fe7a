// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The minimum of a forwarder: it receives, writes the addresses, sends, and frees what the device does not accept. It
//! has no statistics, no buffer and no timer: the reference for what these cost.
//!
//! Frames go from port 0 to port 1 and back, from 2 to 3 and back, and from a port without a neighbour to itself, until
//! SIGINT or SIGTERM. The argument after `--` is the number of frames in a burst, 32 by default.
//!
//! ```sh
//! cargo run --release -p dpdk-rs --example bare_loop -- --no-huge -m 64 --no-pci --vdev=net_null0
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{Burst, Eal, EalOptions, MacAddr, Mempool, Packet, PortConfig, RxQueue, TxQueue};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

const BURST_MAX: usize = 512;

/// The destination and source addresses as bytes of a frame.
#[derive(Clone, Copy)]
struct Macs {
    first: [u8; 8],
    last: [u8; 4],
}

impl Macs {
    /// The addresses of l2fwd: to 02:00:00:00:00:PORT, from the port itself.
    fn of(tx: &TxQueue, MacAddr([s0, s1, s2, s3, s4, s5]): MacAddr) -> Self {
        let [_, port] = tx.port().get().to_be_bytes();
        Self { first: [2, 0, 0, 0, 0, port, s0, s1], last: [s2, s3, s4, s5] }
    }

    #[inline(always)]
    fn write(self, packet: &mut Packet) {
        let header = packet.data_mut().ok().and_then(|data| data.first_chunk_mut::<14>());
        if let Some(header) = header {
            header[..8].copy_from_slice(&self.first);
            header[8..12].copy_from_slice(&self.last);
        }
    }
}

struct Path {
    rx: RxQueue,
    tx: TxQueue,
    macs: Macs,
}

#[inline(never)]
fn forward(paths: &mut [Path], most: usize, stop: &AtomicBool) {
    while !stop.load(Relaxed) {
        for Path { rx, tx, macs } in &mut *paths {
            let macs = *macs;
            let mut burst = Burst::<_, BURST_MAX>::new();
            if rx.rx_up_to(&mut burst, most) == 0 {
                continue;
            }
            let (groups, rest) = burst.as_chunks_mut::<4>(); // one count and one jump for four frames
            for group in groups {
                for packet in group {
                    macs.write(packet);
                }
            }
            for packet in rest {
                macs.write(packet);
            }
            tx.tx(&mut burst);
        } // frees what the device did not accept
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, args) = Eal::init(EalOptions::from_command_line())?;
    let most = args.first().map_or(Ok(32), |frames| frames.parse())?;
    if !(1..=BURST_MAX).contains(&most) {
        return Err(format!("{most} frames in a burst: give 1 to {BURST_MAX}").into());
    }
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }

    let unconfigured = eal.ports();
    let pool: Mempool = Mempool::builder("pool").size(8192 * unconfigured.len().max(1) as u32 - 1).build(&eal)?;
    let (mut ports, mut receivers, mut senders) = (Vec::new(), Vec::new(), Vec::new());
    for port in unconfigured {
        let (port, rx, tx) = port.configure(&PortConfig::default(), &pool)?.start()?;
        port.set_promiscuous(true)?;
        let mac = port.mac_addr()?;
        ports.push(port);
        receivers.extend(rx);
        senders.extend(tx.into_iter().map(|tx| (Macs::of(&tx, mac), tx)));
    }
    if ports.is_empty() {
        return Err("no port: give one with --vdev or -a".into());
    }
    for neighbours in senders.chunks_exact_mut(2) {
        neighbours.reverse();
    }
    let mut paths: Vec<_> = receivers.into_iter().zip(senders).map(|(rx, (macs, tx))| Path { rx, tx, macs }).collect();

    println!("forwarding on {} ports", ports.len());
    forward(&mut paths, most, &stop);
    for port in &ports {
        let stats = port.stats()?;
        println!("port {}: {} frames in, {} out", port.id(), stats.ipackets, stats.opackets);
    }
    Ok(())
}
