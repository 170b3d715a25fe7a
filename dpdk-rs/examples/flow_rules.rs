// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Lets the device sort UDP datagrams by their destination port: one kind for each of two queues, and one that it
//! drops. Counts what arrives, removes the last rule, and counts again.
//!
//! It runs as root on a tap interface, whose driver passes rules to the kernel (modules `cls_flower`, `sch_multiq`,
//! `act_gact` and `act_skbedit`). The datagrams come from the kernel's side, as soon as that has an address:
//!
//! ```sh
//! cargo run -p dpdk-rs --example flow_rules -- --no-huge -m 64 --no-pci --vdev=net_tap0,iface=sorted0
//! ip address add 192.0.2.2/24 dev sorted0      # in another terminal
//! ```
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use dpdk_rs::{
    Burst, Eal, EalOptions, Mempool, PortConfig, RxQueue,
    flow::{Action, Eth, Ipv4, Rule, Udp},
};
use smoltcp::wire::{EthernetFrame, EthernetProtocol, IpProtocol, Ipv4Packet, UdpPacket};
use std::{
    error::Error,
    io::{self, ErrorKind},
    net::UdpSocket,
    thread,
    time::Duration,
};

const HERE: &str = "192.0.2.2:0";
/// The broadcast address, so that the kernel does not ask for a MAC address.
const THERE: &str = "192.0.2.255";

/// The ports of the three kinds: for queue 0, for queue 1, to be dropped.
const KINDS: [u16; 3] = [6000, 6001, 6002];
/// The number of datagrams of each kind.
const DATAGRAMS: usize = 20;
/// The payload of the last datagram for each queue.
const LAST: &[u8] = b"the last one";

/// For each queue, the number of received datagrams of each kind.
type Counts = [[usize; 3]; 2];

fn main() -> Result<(), Box<dyn Error>> {
    let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
    let pool: Mempool = Mempool::builder("pool").build(&eal)?;
    let port = eal.ports().into_iter().next().ok_or("no port: give one with --vdev or -a")?;
    let (port, mut rx_queues, _tx_queues) =
        port.configure(&PortConfig::default().rx_queues(2).tx_queues(2), &pool)?.start()?;

    let to = |kind: usize| Rule::new().item(Eth::any()).item(Ipv4::any()).item(Udp::any().dst_port(KINDS[kind]));
    let _first = port.create_flow(&to(0).action(Action::Queue(0)))?;
    let _second = port.create_flow(&to(1).action(Action::Queue(1)))?;
    let dropping = port.create_flow(&to(2).action(Action::Drop))?;
    println!("port {} ({}): three rules; waits for {HERE} on the kernel's side", port.id(), port.name());

    let socket = kernels_side()?;
    tell("with all rules", send_and_count(&socket, &mut rx_queues)?);
    dropping.destroy()?;
    tell("without the last", send_and_count(&socket, &mut rx_queues)?);
    Ok(())
}

/// A socket on the kernel's side, once its address is assigned.
fn kernels_side() -> io::Result<UdpSocket> {
    loop {
        match UdpSocket::bind(HERE) {
            Ok(socket) => {
                socket.set_broadcast(true)?;
                return Ok(socket);
            }
            Err(error) if error.kind() == ErrorKind::AddrNotAvailable => thread::sleep(Duration::from_millis(10)),
            Err(error) => return Err(error),
        }
    }
}

/// Sends datagrams of each kind, and receives until both queues have delivered their last ones.
fn send_and_count(socket: &UdpSocket, rx_queues: &mut [RxQueue]) -> io::Result<Counts> {
    for _ in 0..DATAGRAMS {
        for kind in KINDS {
            socket.send_to(b"one of many", (THERE, kind))?;
        }
    }
    for kind in &KINDS[..2] {
        socket.send_to(LAST, (THERE, *kind))?;
    }
    let (mut counts, mut last, mut received) = (Counts::default(), 0, true);
    while last < 2 || received {
        received = false;
        for (queue, counts) in rx_queues.iter_mut().zip(&mut counts) {
            let mut pkts = Burst::<_, 32>::new();
            received |= queue.rx(&mut pkts) > 0;
            for (kind, payload) in pkts.iter().filter_map(|pkt| datagram(pkt.data())) {
                if payload == LAST {
                    last += 1;
                } else {
                    counts[kind] += 1;
                }
            }
        }
    }
    Ok(counts)
}

/// The kind and the payload of a frame, if it is one of our datagrams.
fn datagram(frame: &[u8]) -> Option<(usize, &[u8])> {
    let frame = EthernetFrame::new_checked(frame).ok()?;
    let packet = Ipv4Packet::new_checked(frame.payload()).ok()?;
    if frame.ethertype() != EthernetProtocol::Ipv4 || packet.next_header() != IpProtocol::Udp {
        return None;
    }
    let datagram = UdpPacket::new_checked(packet.payload()).ok()?;
    let kind = KINDS.iter().position(|&port| port == datagram.dst_port())?;
    Some((kind, datagram.payload()))
}

fn tell(when: &str, counts: Counts) {
    for (queue, [first, second, third]) in counts.iter().enumerate() {
        let [a, b, c] = KINDS;
        println!("{when}, queue {queue}: {first} to port {a}, {second} to port {b}, {third} to port {c}");
    }
}
