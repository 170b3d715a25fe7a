// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Attaches to the example `primary`, tells what ports it has, counts the frames that it passes on by what they carry, and gives
//! them back, until that process has ended. What this one must promise is said at each `unsafe`.
//!
//! ```sh
//! cargo run -p dpdk-rs --example primary -- -l 0 -m 64 --file-prefix=pair --no-pci --vdev=net_null0
//! cargo run -p dpdk-rs --example secondary -- -l 1 --file-prefix=pair --no-pci    # meanwhile, elsewhere
//! ```
#![allow(clippy::print_stdout)]

use dpdk_rs::{Burst, L3, Packet, Ring, secondary::Secondary};
use std::error::Error;

/// Times that there was nothing to do before the primary process is looked at.
const IDLE_ROUNDS: u32 = 10_000;

fn main() -> Result<(), Box<dyn Error>> {
    // SAFETY: both examples are built and linked in the same way and have the same drivers. The primary process frees its pool at
    // its end, if all packets are back then, and its rings never.
    let (primary, _args) = unsafe { Secondary::attach(std::env::args())? };
    // SAFETY: the primary process has made this ring for packets without private data, and shares it.
    let there: Ring<Packet> = unsafe { primary.ring("to secondary")? };
    // SAFETY: the primary process has made this ring for packets without private data, and shares it.
    let back: Ring<Packet> = unsafe { primary.ring("to primary")? };
    // SAFETY: the primary process closes its port at its end, before which it waits for frames that this one has not given back
    // yet. Whoever ends it by a signal lets this one print first.
    for port in unsafe { primary.ports()? } {
        let (rx, tx) = port.queue_counts();
        println!("port {} ({}): RX queues: {rx}, TX queues: {tx}, link {}", port.id(), port.name(), port.link()?);
    }

    let mut pkts = Burst::<_, 32>::new();
    let (mut ipv4, mut ipv6, mut other) = (0_u64, 0_u64, 0_u64);
    let mut idle = 0;
    while idle < IDLE_ROUNDS || primary.is_primary_alive() {
        idle = if idle < IDLE_ROUNDS { idle + 1 } else { 0 };
        if there.dequeue_burst(&mut pkts, 32) == 0 {
            continue;
        }
        idle = 0;
        for packet in &pkts {
            match packet.headers().packet_type.l3() {
                Some(L3::Ipv4) => ipv4 += 1,
                Some(L3::Ipv6) => ipv6 += 1,
                _ => other += 1,
            }
        }
        back.enqueue_burst(&mut pkts);
        while !pkts.is_empty() && primary.is_primary_alive() {
            back.enqueue_burst(&mut pkts);
        }
        // What nobody takes any more returns to its pool.
        pkts.clear();
    }
    println!("IPv4: {ipv4}, IPv6: {ipv6}, other: {other}");
    Ok(())
}
