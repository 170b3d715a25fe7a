// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A host on the first port: it answers `ping`, and sends back what it receives on TCP port 7 (RFC 862).
//! Usage: smoltcp_echo [EAL OPTIONS] [-- ADDRESS/PREFIX], by default 192.0.2.1/24. Runs until SIGINT or SIGTERM.
//!
//! It runs as root, with the Linux host at the other end of a tap interface:
//!
//! ```sh
//! cargo run -p dpdk-rs --features smoltcp --example smoltcp_echo -- --no-huge -m 64 --no-pci --vdev=net_tap0,iface=echo0
//! ip address add 192.0.2.2/24 dev echo0      # in another terminal
//! ping -c 3 192.0.2.1
//! nc 192.0.2.1 7
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{Eal, EalOptions, Mempool, PortConfig, smoltcp::QueueDevice};
use signal_hook::consts::{SIGINT, SIGTERM};
use smoltcp::{
    iface::{Config, Interface, SocketSet},
    socket::tcp,
    time::Instant,
    wire::{EthernetAddress, IpCidr},
};
use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

const ECHO_PORT: u16 = 7;
const CONNECTIONS: usize = 4;
const BUFFER_LEN: usize = 65_535;

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, args) = Eal::init(EalOptions::from_command_line())?;
    let text = args.first().map_or("192.0.2.1/24", String::as_str);
    let address: Option<IpCidr> = text.parse().ok();
    let address = address
        .filter(|address| address.address().is_unicast())
        .ok_or_else(|| format!("'{text}' is not a host's address: give one such as 192.0.2.1/24 after --"))?;
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }

    let pool: Mempool = Mempool::builder("pool").build(&eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
    let (port, mut rx, mut tx) = port.configure(&PortConfig::default(), &pool)?.start()?;
    let mut device = QueueDevice::new(rx.remove(0), tx.remove(0), pool, port.mtu()?);

    let mac = EthernetAddress(port.mac_addr()?.octets());
    let mut interface = Interface::new(Config::new(mac.into()), &mut device, Instant::now());
    let mut room = Ok(());
    interface.update_ip_addrs(|addresses| room = addresses.push(address));
    room.map_err(|_| "smoltcp was built with room for no address")?;
    let mut sockets = SocketSet::new(Vec::new());
    let handles: Vec<_> = (0..CONNECTIONS).map(|_| sockets.add(socket())).collect();
    println!("port {} ({}): {address} at {mac} echoes on TCP port {ECHO_PORT}", port.id(), port.name());

    let mut echoed = 0;
    while !stop.load(Relaxed) {
        interface.poll(Instant::now(), &mut device, &mut sockets);
        for handle in &handles {
            echoed += echo(sockets.get_mut(*handle))?;
        }
    }
    println!("echoed {echoed} bytes");
    Ok(())
}

fn socket() -> tcp::Socket<'static> {
    tcp::Socket::new(tcp::SocketBuffer::new(vec![0; BUFFER_LEN]), tcp::SocketBuffer::new(vec![0; BUFFER_LEN]))
}

/// Moves received bytes to the send buffer, as far as there is room, and closes when the peer does. Returns how many
/// bytes.
fn echo(socket: &mut tcp::Socket<'_>) -> Result<usize, Box<dyn Error>> {
    if !socket.is_open() {
        socket.listen(ECHO_PORT)?;
    }
    let mut moved = 0;
    while socket.can_send() && socket.can_recv() {
        let room = socket.send_capacity() - socket.send_queue();
        let mut bytes = [0; 4096];
        let most = room.min(bytes.len());
        let count = socket.recv_slice(&mut bytes[..most])?;
        moved += socket.send_slice(&bytes[..count])?;
    }
    // The peer has sent everything, and so have we.
    if socket.state() == tcp::State::CloseWait && !socket.can_recv() && socket.send_queue() == 0 {
        socket.close();
    }
    Ok(moved)
}
