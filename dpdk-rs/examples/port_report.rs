// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Prints what the drivers report about every started port: the functions that receive and send, the set-up of the
//! queues, the firmware, the module and more. Usage: port_report [EAL OPTIONS] -- [USED [THRESHOLD [SPEED]]]. The
//! program also waits until USED descriptors of each RX queue hold a frame, if the driver counts them. THRESHOLD
//! replaces the thresholds that drivers choose. SPEED, in Mbit/s, is set without negotiation. If the device can keep
//! the frames' checksums (FCS), it is configured to do so, otherwise to merge TCP segments if it can.
//!
//! ```sh
//! cargo run -p dpdk-rs --example port_report -- -a 0000:18:00.0
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{
    Burst, Eal, EalOptions, Mempool, Port, PortConfig, PortError, RxQueue, TxQueue,
    port::{LinkSpeed, RxOffloads},
};
use std::{error::Error, fmt::Debug};

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, args) = Eal::init(EalOptions::from_command_line())?;
    let (mut used, mut config) = (0, PortConfig::default());
    if let Some(text) = args.first() {
        used = number(text)?;
    }
    if let Some(text) = args.get(1) {
        let threshold = number(text)?;
        config = config.rx_free_threshold(threshold).tx_free_threshold(threshold).tx_report_threshold(threshold);
    }
    if let Some(text) = args.get(2) {
        config = config.fixed_speed(speed(text)?);
    }
    let pool: Mempool = Mempool::builder("pool").build(&eal)?;
    for port in eal.ports() {
        let info = port.info()?;
        let offered = [RxOffloads::KEEP_CRC, RxOffloads::TCP_LRO].into_iter().find(|it| info.offers_rx.contains(*it));
        let offloads = offered.unwrap_or(RxOffloads::NONE);
        let (port, mut rx, mut tx) = port.configure(&config.clone().rx_offloads(offloads), &pool)?.start()?;
        println!("port {} ({}), driver {}", port.id(), port.name(), info.driver);
        println!("  speeds: {}", info.speeds);
        println!("  offload: {offloads}");
        report(&port, &mut rx[0], &mut tx[0], u32::from(used))?;
    }
    Ok(())
}

fn number(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| format!("'{text}' is not a number of descriptors: give one, such as 8"))
}

fn speed(text: &str) -> Result<LinkSpeed, String> {
    let speed = text.parse().ok().and_then(|mbps| LinkSpeed::new(mbps, true));
    speed.ok_or_else(|| format!("'{text}' is not a link speed: give one in Mbit/s, such as 10000"))
}

fn report(port: &Port, rx: &mut RxQueue, tx: &mut TxQueue, used: u32) -> Result<(), PortError> {
    say("link", port.link());
    say("RX burst mode", port.rx_burst_mode(0));
    say("TX burst mode", port.tx_burst_mode(0));
    say("RX queue 0", port.rx_queue_info(0));
    say("TX queue 0", port.tx_queue_info(0));
    say("first RX descriptor", rx.descriptor(0));
    say("first TX descriptor", tx.descriptor(0));
    say("sent frames freed", tx.free_sent(0));
    say("firmware", port.firmware_version());
    let module = port.module().map(|module| (module.standard, module.vendor(), module.part_number()));
    say("module", module);
    let types = port.packet_types().map(|types| types.iter().filter_map(|kind| kind.l4()).collect::<Vec<_>>());
    say("layer 4 of the frames that it tells apart", types);
    if used > 0 {
        println!("  waiting for {used} used RX descriptors");
        while rx.used_descriptors()? < used {
            std::thread::yield_now();
        }
        say("link then", port.wait_link());
    }
    say("used RX descriptors", rx.used_descriptors());
    say("first RX descriptor", rx.descriptor(0));
    let mut burst = Burst::<_, 32>::new();
    rx.rx(&mut burst);
    if let Some(frame) = burst.iter().next() {
        let (len, crc) = (frame.len(), frame.kept_crc());
        println!("  first frame: {len} bytes, behind them {crc:02x?}, segments of {:?}", frame.lro_segment_len());
    }
    Ok(())
}

/// Prints an answer, or why there is none.
fn say(what: &str, answer: Result<impl Debug, PortError>) {
    match answer {
        Ok(answer) => println!("  {what}: {answer:?}"),
        Err(error) => println!("  {what}: - ({error})"),
    }
}
