// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Receives frames on the first port into memory of the program, which is registered for its NICs, and sends each frame
//! back: packets of another pool refer to the received bytes. Runs until SIGINT or SIGTERM.
//!
//! ```sh
//! cargo run -p dpdk-rs --example own_memory -- -a 0000:18:00.0 --iova-mode=va
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{Burst, Eal, EalOptions, Mempool, PortConfig, memory::ExternalMemory};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

const PAGE: usize = 4096;
/// One page for each mbuf, so that every buffer is contiguous for devices: some devices do not send others.
const MBUFS: usize = 1023;

/// Whole pages inside a larger allocation. A mapped file would do as well.
struct Pages {
    bytes: Vec<u8>,
    start: usize,
}

impl Pages {
    fn new(count: usize) -> Self {
        let bytes = vec![0; (count + 1) * PAGE];
        let start = bytes.as_ptr().align_offset(PAGE);
        Self { bytes, start }
    }
}

impl AsMut<[u8]> for Pages {
    fn as_mut(&mut self) -> &mut [u8] {
        let len = self.bytes.len() - PAGE;
        &mut self.bytes[self.start..][..len]
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;

    let memory = ExternalMemory::register(&eal, Pages::new(MBUFS), PAGE).map_err(|(error, _memory)| error)?;
    let way = if memory.is_mapped() { "through the IOMMU" } else { "through the processor" };
    let builder = Mempool::<()>::builder("pool").size(MBUFS as u32).data_room(PAGE as u16);
    let pool = builder.build_in(&eal, memory).map_err(|(error, _memory)| error)?;
    let references: Mempool = Mempool::builder("references").data_room(0).build(&eal)?;
    let config = PortConfig::default().rx_descriptors(256).tx_descriptors(256);
    let (port, mut rx_queues, mut tx_queues) = port.configure(&config, &pool)?.start()?;
    println!("port {} ({}) reaches {MBUFS} pages of this program {way}", port.id(), port.name());

    let (mut received, mut sent) = (0, 0);
    let mut pkts = Burst::<_, 32>::new();
    let mut out = Burst::<(), 32>::new();
    while !stop.load(Relaxed) {
        received += rx_queues[0].rx(&mut pkts);
        for mut pkt in pkts.drain() {
            // The received packet ends here. The sent packet keeps its bytes.
            pkt.share(&references).map(|same| out.push(same));
        }
        sent += tx_queues[0].tx(&mut out);
        out.clear(); // frees what the device did not accept
    }
    port.stop(rx_queues, tx_queues)?.close();
    println!("received: {received}, sent: {sent}, mbufs back: {} of {MBUFS}", pool.available());
    Ok(())
}
