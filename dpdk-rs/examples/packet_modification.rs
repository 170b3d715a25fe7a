// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Sets the MAC addresses of at least 100 frames, with the frame types of the crate `smoltcp`.
//!
//! ```sh
//! cargo run -p dpdk-rs --example packet_modification -- --no-huge -m 64 --no-pci \
//!     --vdev=net_pcap0,rx_pcap=in.pcap,tx_pcap=out.pcap,infinite_rx=1
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{Burst, Eal, EalOptions, Mempool, Packet, PacketError, PortConfig};
use smoltcp::wire::{EthernetAddress, EthernetFrame};
use std::error::Error;

/// Sets the addresses. Frames that are too short are unchanged.
fn set_addresses(pkt: &mut Packet) -> Result<(), PacketError> {
    if let Ok(mut eth) = EthernetFrame::new_checked(pkt.data_mut()?) {
        eth.set_src_addr(EthernetAddress([1, 2, 3, 4, 5, 6]));
        eth.set_dst_addr(EthernetAddress([6, 5, 4, 3, 2, 1]));
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
    let pool: Mempool = Mempool::builder("pool").build(&eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
    let (_port, mut rx_queues, mut tx_queues) = port.configure(&PortConfig::default(), &pool)?.start()?;

    let mut sent = 0;
    let mut pkts = Burst::<_, 32>::new();
    while sent < 100 {
        rx_queues[0].rx(&mut pkts);
        for pkt in &mut pkts {
            set_addresses(pkt)?;
        }
        sent += tx_queues[0].tx(&mut pkts);
        pkts.clear();
    }
    println!("sent: {sent}");
    Ok(())
}
