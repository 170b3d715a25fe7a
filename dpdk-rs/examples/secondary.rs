// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Attaches to the example `primary`, prints that process's ports, counts the frames that it passes on by their
//! protocol, and returns them until that process ends. It answers a message with its counters. A comment at each
//! `unsafe` says what this process must promise.
//!
//! ```sh
//! cargo run -p dpdk-rs --example primary -- -l 0 -m 64 --file-prefix=pair --no-pci --vdev=net_null0
//! cargo run -p dpdk-rs --example secondary -- -l 1 --file-prefix=pair --no-pci    # meanwhile, elsewhere
//! ```
#![allow(clippy::print_stdout)]

use dpdk_rs::{Burst, EalOptions, L3, Packet, Ring, message::Outgoing, secondary::Secondary};
use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

/// The number of idle rounds between two checks that the primary process is running.
const IDLE_ROUNDS: u32 = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: both examples are built and linked in the same way and have the same drivers. The primary process frees
    // its pool at its end only if all packets are back, and its rings never.
    let (primary, _args) = unsafe { Secondary::attach(EalOptions::from_command_line())? };
    // SAFETY: the primary process created this ring for packets without private data, and shares it.
    let there: Ring<Packet> = unsafe { primary.ring("to secondary")? };
    // SAFETY: the primary process created this ring for packets without private data, and shares it.
    let back: Ring<Packet> = unsafe { primary.ring("to primary")? };
    // SAFETY: the primary process closes its port at its end, after waiting for the frames that this process has not
    // returned yet. Whoever ends it by a signal lets this process print first.
    for port in unsafe { primary.ports()? } {
        let (rx, tx) = port.queue_counts();
        println!("port {} ({}): RX queues: {rx}, TX queues: {tx}, link {}", port.id(), port.name(), port.link()?);
    }

    let counters: Arc<[AtomicU64; 3]> = Arc::default();
    let shared = Arc::clone(&counters);
    let _handler = primary.messages().on("pair/counted", move |request| {
        // Relaxed is enough: the primary process received these frames back through a ring, which orders the writes.
        let counted = shared.each_ref().map(|counter| counter.load(Ordering::Relaxed));
        if let Err(error) = request.reply(&Outgoing::of(&counted)) {
            eprintln!("the primary process does not learn what was counted: {error}");
        }
    })?;
    let [ipv4, ipv6, other] = &*counters;

    let mut pkts = Burst::<_, 32>::new();
    let mut idle = 0;
    while idle < IDLE_ROUNDS || primary.is_primary_alive() {
        idle = if idle < IDLE_ROUNDS { idle + 1 } else { 0 };
        if there.dequeue_burst(&mut pkts, 32) == 0 {
            continue;
        }
        idle = 0;
        for packet in &pkts {
            let counter = match packet.headers().packet_type.l3() {
                Some(L3::Ipv4) => ipv4,
                Some(L3::Ipv6) => ipv6,
                _ => other,
            };
            counter.fetch_add(1, Ordering::Relaxed);
        }
        back.enqueue_burst(&mut pkts);
        while !pkts.is_empty() && primary.is_primary_alive() {
            back.enqueue_burst(&mut pkts);
        }
        // Packets that nobody takes any more return to their pool.
        pkts.clear();
    }
    let [ipv4, ipv6, other] = counters.each_ref().map(|counter| counter.load(Ordering::Relaxed));
    println!("IPv4: {ipv4}, IPv6: {ipv6}, other: {other}");
    Ok(())
}
