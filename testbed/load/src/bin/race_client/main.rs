// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The client of a race: on commands by DPDK's telemetry socket, it opens connections to a server, and sends requests or asks
//! for streams. It checks what comes. Usage: race-client [EAL OPTIONS] -- echo CONNECTIONS IN_FLIGHT, or message or adder in
//! place of echo, page CONNECTIONS IN_FLIGHT PER_CONNECTION, streams CONNECTIONS, or messages CONNECTIONS LENGTH. Runs until SIGINT or SIGTERM.
#![forbid(unsafe_code)]

mod bulk;
mod control;
mod messages;
mod streams;

use bulk::BulkLoad;
use control::{Control, Load};
use core::time::Duration;
use dpdk_rs::{Burst, Eal, EalOptions, Mempool, Packet, PortConfig, RxQueue, TxQueue};
use dpdk_sockets::Stack;
use dpdk_sockets::wire::QueuePair;
use messages::Exchanges;
use signal_hook::consts::{SIGINT, SIGTERM};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use streams::Streams;
use testbed_load::{Clients, Counters, Latencies, Mode, Patience, Work};

const BURST: usize = 32;
const DESCRIPTORS: u16 = 1_024;
/// For full queues, those of the device too.
const MBUFS: u32 = 4_095;
const RESEND: Duration = Duration::from_millis(500);
const ACKNOWLEDGE: Duration = Duration::from_millis(40);

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, args) = Eal::init(EalOptions::from_command_line())?;
    let usage = "race-client … -- echo, message or adder, CONNECTIONS IN_FLIGHT, -- page CONNECTIONS IN_FLIGHT \
                 PER_CONNECTION, -- streams CONNECTIONS, or -- messages CONNECTIONS LENGTH";
    let number = |at: usize| -> Result<u32, Box<dyn Error>> {
        let word = args.get(at).ok_or_else(|| format!("a number is missing: {usage}"))?;
        Ok(word.parse().map_err(|error| format!("'{word}': {error}"))?)
    };
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    let connections = number(1)?;
    match args[0].as_str() {
        "echo" => requests(&eal, Work::Echo, connections, (number(2)? as usize, 0), &stop),
        "message" => requests(&eal, Work::Message, connections, (number(2)? as usize, 0), &stop),
        "page" => requests(&eal, Work::Page, connections, (number(2)? as usize, number(3)?), &stop),
        "adder" => requests(&eal, Work::Adder, connections, (number(2)? as usize, 0), &stop),
        "streams" => bulk(&eal, |stack| Streams::new(stack, connections), &stop),
        "messages" => {
            let len = number(2)?;
            bulk(&eal, |stack| Exchanges::new(stack, connections, len), &stop)
        }
        other => Err(format!("'{other}' is no load: {usage}").into()),
    }
}

/// With so many requests on their way at a time, and so many on a connection.
fn requests(
    eal: &Eal,
    work: Work,
    connections: u32,
    (limit, per_connection): (usize, u32),
    stop: &AtomicBool,
) -> Result<(), Box<dyn Error>> {
    let clock = eal.clock();
    let patience = Patience { resend: clock.cycles(RESEND), acknowledge: clock.cycles(ACKNOWLEDGE) };
    let mut clients = Clients::new(work, connections, limit, per_connection, patience, Latencies::new()?);
    let mut control = Control::new(eal)?;

    let pool: Mempool = Mempool::builder("pool").size(MBUFS).build(eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
    let config = PortConfig::default().rx_descriptors(DESCRIPTORS).tx_descriptors(DESCRIPTORS);
    let (_port, mut rx, mut tx) = port.configure(&config, &pool)?.start()?;
    let (rx, tx, spare) = (rx.remove(0), tx.remove(0), pool.alloc());
    let mut wire = Wire { rx, tx, received: Burst::new(), waiting: Burst::new(), spare, pool };
    while !stop.load(Relaxed) {
        let now = clock.now().cycles();
        let is_empty = wire.poll(&mut clients, now);
        control.answer(&mut clients, now, is_empty, clock);
    }
    Ok(())
}

/// Connections on a stack of the client's own.
fn bulk<L: BulkLoad>(
    eal: &Eal,
    load: impl FnOnce(Stack<QueuePair>) -> L,
    stop: &AtomicBool,
) -> Result<(), Box<dyn Error>> {
    let clock = eal.clock();
    let mut control = Control::new(eal)?;
    let mut load = load(bulk::stack(eal)?);
    while !stop.load(Relaxed) {
        let now = clock.now().cycles();
        let is_empty = load.poll();
        control.answer(&mut load, now, is_empty, clock);
    }
    Ok(())
}

impl Load for Clients {
    fn open(&mut self) {
        self.open();
    }

    fn set_mode(&mut self, mode: Mode, now: u64) {
        self.set_mode(mode, now);
    }

    fn is_quiet(&self) -> bool {
        self.is_quiet()
    }

    fn counters(&self) -> Counters {
        self.counters()
    }

    fn latencies(&self) -> Option<&Latencies> {
        Some(self.latencies())
    }
}

/// The queues, and the frames on their way from and to them.
struct Wire {
    rx: RxQueue,
    tx: TxQueue,
    received: Burst<(), BURST>,
    waiting: Burst<(), BURST>,
    /// For the next frame.
    spare: Option<Packet>,
    pool: Mempool,
}

impl Wire {
    /// Hands the clients what has come, and sends what they have. Returns whether there was nothing.
    fn poll(&mut self, clients: &mut Clients, now: u64) -> bool {
        self.rx.rx(&mut self.received);
        let mut is_empty = self.received.is_empty() && self.waiting.is_empty();
        for frame in self.received.drain() {
            clients.take(frame.data(), now);
        }
        clients.look_for_loss(now);
        while self.waiting.remaining_capacity() > 0 {
            let Some(mut packet) = self.spare.take().or_else(|| self.pool.alloc()) else { break };
            let Some(outgoing) = clients.next(now) else {
                self.spare = Some(packet);
                break;
            };
            if let Ok(frame) = packet.append(clients.len_of(outgoing)) {
                clients.write(outgoing, frame);
            }
            let _ = self.waiting.push(packet); // there is room
            is_empty = false;
        }
        self.tx.tx(&mut self.waiting);
        is_empty
    }
}
