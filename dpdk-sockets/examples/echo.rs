// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors
#![allow(clippy::print_stdout)]

//! Sends back what it receives on TCP port 7 (RFC 862), on any number of connections.
//! Usage: echo [EAL OPTIONS] [-- ADDRESS/PREFIX[,ADDRESS/PREFIX]], by default 192.0.2.1/24, or `automatic` for addresses that
//! the network gives. Runs until SIGINT or SIGTERM.
#![forbid(unsafe_code)]

use dpdk_rs::{Eal, EalOptions, Mempool};
use dpdk_sockets::watch::Telemetry;
use dpdk_sockets::wire::{QueuePair, checksum_offloads};
use dpdk_sockets::{Config, ConnectionError, ConnectionId, Event, IpNet, Stack};
use signal_hook::consts::{SIGINT, SIGTERM};
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, args) = Eal::init(EalOptions::from_command_line())?;
    let text = args.first().map_or("192.0.2.1/24", String::as_str);
    let is_automatic = text == "automatic";
    let given = if is_automatic { "" } else { text };
    let addresses: Vec<IpNet> =
        given.split_terminator(',').map(str::parse).collect::<Result<_, _>>().map_err(|_| {
            format!("'{text}' are no addresses: give some such as 192.0.2.1/24,2001:db8::1/64, or automatic")
        })?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }

    let pool: Mempool = Mempool::builder("pool").build(&eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
    let offloads = checksum_offloads(&port.info()?);
    let (port, mut rx, mut tx) = port.configure(&offloads, &pool)?.start()?;
    let wire = QueuePair::new(&eal, rx.remove(0), tx.remove(0), pool);
    // Neighbor discovery asks a group for an IPv6 address. A device without a filter refuses, and receives all frames.
    let _ = port.set_allmulticast(true);
    let mut config = Config::automatic(port.mac_addr()?);
    (config.dhcp, config.slaac) = (is_automatic, is_automatic);
    config.addresses = addresses;
    let mut stack = Stack::new(wire, config)?;
    stack.listen(7)?;
    let telemetry = Telemetry::register(&eal)?;
    telemetry.add("echo", &mut stack)?;
    println!("port {} ({}): {text} at {} echoes on TCP port 7", port.id(), port.name(), port.mac_addr()?);

    let mut echoed = 0;
    while !stop.load(Relaxed) {
        stack.poll();
        while let Some(event) = stack.next_event() {
            match event {
                Event::Readable(id) | Event::Writable(id) => echoed += echo(&mut stack, id).unwrap_or(0),
                // Whatever went wrong with a connection, this comes last.
                Event::Ended(id, _) => stack.close(id)?,
                Event::Addresses => println!("addresses: {}", join(stack.addresses())),
                _ => (),
            }
        }
    }
    println!("echoed {echoed} bytes");
    Ok(())
}

fn join(addresses: &[IpNet]) -> String {
    addresses.iter().map(IpNet::to_string).collect::<Vec<_>>().join(",")
}

/// Sends back what has arrived, as far as there is space, and closes when the peer does. Returns how many bytes.
fn echo(stack: &mut Stack<QueuePair>, id: ConnectionId) -> Result<usize, ConnectionError> {
    let mut echoed = 0;
    let mut bytes = [0; 4096];
    loop {
        let space = stack.space(id)?.min(bytes.len());
        match stack.recv(id, &mut bytes[..space])? {
            Some(0) if space > 0 => break stack.shutdown(id).map(|()| echoed),
            Some(len @ 1..) => echoed += stack.send(id, &bytes[..len])?,
            _ => break Ok(echoed),
        }
    }
}
