// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The server of a race on dpdk-sockets: it echoes, and with the poll interface sends streams on a port of their own. Usage:
//! race-server [EAL OPTIONS] -- polled|async|offloaded|segmented CONNECTIONS BUFFER, the last in bytes for each direction of a
//! connection. Runs until SIGINT or SIGTERM.
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{Eal, EalOptions, MacAddr, Mempool, PortConfig};
use dpdk_sockets::runtime::Runtime;
use dpdk_sockets::watch::Telemetry;
use dpdk_sockets::wire::{QueuePair, checksum_offloads, segmentation_offloads};
use dpdk_sockets::{Config, ConnectionError, ConnectionId, Event, IpNet, Stack};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use testbed_load::{PORT, PREFIX_LEN, SERVER, SERVER_MAC, STREAM_PORT, Source, accept};

/// For full queues, those of the device too.
const MBUFS: u32 = 4_095;
/// Of the mbufs for segments that the device cuts.
const LONG_ROOM: u16 = 16_384;

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, args) = Eal::init(EalOptions::from_command_line())?;
    let [kind, connections, buffer] = args.as_slice() else {
        return Err("give polled, async, offloaded or segmented, the connections, and the bytes of a buffer".into());
    };
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }

    let pool: Mempool = Mempool::builder("pool").size(MBUFS).build(&eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
    let (config, to_send) = match kind.as_str() {
        "offloaded" => (checksum_offloads(&port.info()?), pool.clone()),
        "segmented" => {
            let long = Mempool::builder("long").size(MBUFS).data_room(LONG_ROOM).build(&eal)?;
            (segmentation_offloads(&port.info()?), long)
        }
        // The kernel's servers have no device that looks after checksums either.
        _ => (PortConfig::default(), pool.clone()),
    };
    let (_port, mut rx, mut tx) = port.configure(&config, &pool)?.start()?;
    let wire = QueuePair::new(&eal, rx.remove(0), tx.remove(0), to_send);
    let mut config = Config::new(MacAddr(SERVER_MAC.0), IpNet::new_assert(SERVER.into(), PREFIX_LEN));
    // One that has ended is there until the program has closed it, and its client opens it again at once.
    config.connections = 2 * connections.parse::<usize>()?;
    (config.receive_buffer, config.send_buffer) = (buffer.parse()?, buffer.parse()?);
    let mut stack = Stack::new(wire, config)?;
    let telemetry = Telemetry::register(&eal)?;
    telemetry.add("race", &mut stack)?;
    match kind.as_str() {
        "polled" | "offloaded" | "segmented" => polled(stack, &stop),
        "async" => tasks(stack, &stop),
        other => Err(format!("'{other}' is no kind of server: give polled, async, offloaded or segmented").into()),
    }
}

fn polled(mut stack: Stack<QueuePair>, stop: &AtomicBool) -> Result<(), Box<dyn Error>> {
    stack.listen(PORT)?;
    let for_streams = stack.listen(STREAM_PORT)?;
    let mut sources: Vec<Source> = Vec::new();
    while !stop.load(Relaxed) {
        stack.poll();
        while let Some(event) = stack.next_event() {
            // The client notices what is missing.
            match event {
                Event::Accepted(listener, id) if listener == for_streams => sources.push(Source::new(id)),
                Event::Readable(id) | Event::Writable(id) => match sources.iter_mut().find(|source| source.id == id) {
                    Some(source) => {
                        let _ = source.go_on(&mut stack);
                    }
                    None => {
                        let _ = echo_all(&mut stack, id);
                    }
                },
                Event::Ended(id, _) => {
                    sources.retain(|source| source.id != id);
                    stack.close(id)?;
                }
                _ => (),
            }
        }
    }
    println!("{:?}", stack.counters());
    Ok(())
}

fn echo_all(stack: &mut Stack<QueuePair>, id: ConnectionId) -> Result<(), ConnectionError> {
    let mut bytes = [0; 128];
    while let Some(len) = stack.recv(id, &mut bytes)? {
        if len == 0 {
            return stack.shutdown(id);
        }
        stack.send(id, &bytes[..len])?;
    }
    Ok(())
}

fn tasks(stack: Stack<QueuePair>, stop: &AtomicBool) -> Result<(), Box<dyn Error>> {
    let mut runtime = Runtime::new(stack);
    runtime.spawn(accept());
    while !stop.load(Relaxed) {
        runtime.poll();
    }
    println!("{:?}", runtime.with_stack(|stack| stack.counters()));
    runtime.abort();
    Ok(())
}
