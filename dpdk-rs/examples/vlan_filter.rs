// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Receives untagged frames and frames of the given VLANs on the first port. The device drops those of other VLANs, and
//! removes the tags. Usage: vlan_filter [EAL OPTIONS] -- VLAN...; runs until SIGINT or SIGTERM.
//!
//! ```sh
//! cargo run -p dpdk-rs --example vlan_filter -- -a 0000:18:00.0 -- 10 20
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{Burst, Eal, EalOptions, Mempool, PortConfig};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

/// The bits of a tag that are the VLAN's number.
const ID: u16 = 0xfff;

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, args) = Eal::init(EalOptions::from_command_line())?;
    let vlans = args.iter().map(|text| vlan(text)).collect::<Result<Vec<_>, _>>()?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }

    let pool: Mempool = Mempool::builder("pool").build(&eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
    let config = PortConfig::default().vlan_filter(true).vlan_strip(true);
    let (port, mut rx_queues, _tx_queues) = port.configure(&config, &pool)?.start()?;
    for &id in &vlans {
        port.set_vlan(id, true)?;
    }
    println!("port {} ({}) receives frames of the VLANs {vlans:?}", port.id(), port.name());

    let mut pkts = Burst::<_, 32>::new();
    while !stop.load(Relaxed) {
        rx_queues[0].rx(&mut pkts);
        for pkt in &pkts {
            let place = pkt.stripped_vlan().map_or("no VLAN".to_owned(), |tag| format!("VLAN {}", tag & ID));
            println!("{place}: {} bytes, type {:02x?}", pkt.data().len(), pkt.data().get(12..14).unwrap_or_default());
        }
        pkts.clear();
    }
    Ok(())
}

fn vlan(text: &str) -> Result<u16, String> {
    let id = text.parse().ok().filter(|id| (1..ID).contains(id));
    id.ok_or_else(|| format!("'{text}' is not a VLAN number: give numbers from 1 to 4094 after --"))
}
