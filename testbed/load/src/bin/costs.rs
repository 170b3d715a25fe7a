// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Answers requests of 100 bytes on random connections, without a device, so that callgrind counts what a request costs:
//! `./x bench sockets`. Usage: costs CONNECTIONS REQUESTS [polled | async | offloaded]
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout)]

use core::net::Ipv4Addr;
use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_sockets::runtime::Runtime;
use dpdk_sockets::{Config, Counters, Event, IpNet, Stack};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, IpProtocol,
    Ipv4Packet, Ipv4Repr, TcpControl, TcpPacket, TcpRepr, TcpSeqNumber,
};
use std::error::Error;
use testbed_load::{Frames, PORT, SERVER, accept};

const SERVER_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 1]);
const CLIENT_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 2]);
/// The clients' ports and addresses.
const PORTS: u32 = 50_000;

/// The client's side of a connection.
struct Client {
    address: Ipv4Addr,
    port: u16,
    seq: TcpSeqNumber,
    ack: Option<TcpSeqNumber>,
}

impl Client {
    fn new(number: u32) -> Self {
        let [_, _, high, low] = (number / PORTS + 2).to_be_bytes();
        let port = 1_024 + (number % PORTS) as u16;
        Self { address: Ipv4Addr::new(10, 1, high, low), port, seq: TcpSeqNumber(number.cast_signed()), ack: None }
    }

    fn frame(&mut self, control: TcpControl, data: &[u8]) -> Vec<u8> {
        let tcp = TcpRepr {
            src_port: self.port,
            dst_port: PORT,
            control,
            seq_number: self.seq,
            ack_number: self.ack,
            window_len: 60_000,
            window_scale: None,
            max_seg_size: None,
            sack_permitted: false,
            sack_ranges: [None; 3],
            timestamp: None,
            payload: data,
        };
        self.seq += tcp.segment_len();
        let ip = Ipv4Repr {
            src_addr: self.address,
            dst_addr: SERVER,
            next_header: IpProtocol::Tcp,
            payload_len: tcp.buffer_len(),
            hop_limit: 64,
        };
        let mut bytes = vec![0; 14 + ip.buffer_len() + tcp.buffer_len()];
        let mut frame = EthernetFrame::new_unchecked(&mut bytes[..]);
        EthernetRepr { src_addr: CLIENT_MAC, dst_addr: SERVER_MAC, ethertype: EthernetProtocol::Ipv4 }.emit(&mut frame);
        let checksums = ChecksumCapabilities::default();
        let mut packet = Ipv4Packet::new_unchecked(frame.payload_mut());
        ip.emit(&mut packet, &checksums);
        let (from, to) = (self.address.into(), SERVER.into());
        tcp.emit(&mut TcpPacket::new_unchecked(packet.payload_mut()), &from, &to, &checksums);
        bytes
    }

    /// Takes what the stack has sent. Returns how many bytes of data it carries, if it acknowledges everything.
    fn take(&mut self, wire: &mut Frames) -> Option<usize> {
        let frame = wire.from_stack.pop_front()?;
        let ip = Ipv4Packet::new_unchecked(&frame[14..]);
        let tcp = TcpPacket::new_unchecked(ip.payload());
        let is_mine = tcp.dst_port() == self.port && tcp.ack_number() == self.seq;
        self.ack = Some(tcp.seq_number() + tcp.segment_len());
        let len = tcp.payload().len();
        wire.spare.push(frame);
        is_mine.then_some(len)
    }
}

/// A server, in each of the two ways to write it.
enum Server {
    Polled(Box<Stack<Frames>>),
    Async(Runtime<Frames>),
}

impl Server {
    fn new(stack: Stack<Frames>, is_async: bool) -> Result<Self, Box<dyn Error>> {
        let mut stack = stack;
        if !is_async {
            stack.listen(PORT)?;
            return Ok(Self::Polled(Box::new(stack)));
        }
        let mut runtime = Runtime::new(stack);
        runtime.spawn(accept());
        runtime.poll();
        Ok(Self::Async(runtime))
    }

    fn with_wire<T>(&mut self, look: impl FnOnce(&mut Frames) -> T) -> T {
        match self {
            Self::Polled(stack) => look(stack.wire_mut()),
            Self::Async(runtime) => runtime.with_stack(|stack| look(stack.wire_mut())),
        }
    }

    fn counters(&mut self) -> Counters {
        match self {
            Self::Polled(stack) => stack.counters(),
            Self::Async(runtime) => runtime.with_stack(|stack| stack.counters()),
        }
    }
}

/// What is counted: from the frame with a request to the frame with the answer.
#[inline(never)]
fn request(server: &mut Server) {
    serve(server);
}

/// Handles a frame and sends what answers it.
fn serve(server: &mut Server) {
    match server {
        Server::Polled(stack) => {
            stack.poll();
            while let Some(event) = stack.next_event() {
                if let Event::Readable(id) = event {
                    let mut bytes = [0; 128];
                    while let Ok(Some(len @ 1..)) = stack.recv(id, &mut bytes) {
                        let _ = stack.send(id, &bytes[..len]); // a request that is not answered is noticed
                    }
                }
            }
            stack.poll();
        }
        Server::Async(runtime) => {
            runtime.poll();
            runtime.poll();
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut number = |name| -> Result<u32, Box<dyn Error>> {
        let word = words.next().ok_or_else(|| format!("give {name}: costs CONNECTIONS REQUESTS"))?;
        Ok(word.parse().map_err(|error| format!("{name} '{word}': {error}"))?)
    };
    let (connections, requests) = (number("CONNECTIONS")?, number("REQUESTS")?);
    let (is_async, offloads) = match words.next().as_deref() {
        None | Some("polled") => (false, false),
        Some("async") => (true, false),
        // Polled, on a device that looks after checksums.
        Some("offloaded") => (false, true),
        Some(other) => return Err(format!("'{other}' is no kind of server: give polled, async or offloaded").into()),
    };
    let mut config = Config::new(MacAddr(SERVER_MAC.0), IpNet::new_assert(SERVER.into(), 8));
    (config.receive_buffer, config.send_buffer) = (4_096, 4_096);
    config.backlog = 10;
    let mut server = Server::new(Stack::new(Frames::new(4, offloads, 0), config)?, is_async)?;
    let mut clients: Vec<_> = (0..connections).map(Client::new).collect();
    for client in &mut clients {
        server.with_wire(|wire| wire.to_stack.push_back(client.frame(TcpControl::Syn, b"")));
        for _ in 0..3 {
            serve(&mut server);
            server.with_wire(|wire| {
                let Some(frame) = wire.from_stack.pop_front() else { return };
                if EthernetFrame::new_unchecked(&frame[..]).ethertype() == EthernetProtocol::Arp {
                    wire.to_stack.push_back(arp_reply(client.address));
                    wire.spare.push(frame);
                } else {
                    wire.from_stack.push_back(frame);
                    client.take(wire);
                }
            });
        }
        server.with_wire(|wire| wire.to_stack.push_back(client.frame(TcpControl::None, b"")));
        serve(&mut server);
    }
    let mut random = 1_u64;
    for _ in 0..requests {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let client = &mut clients[(random >> 33) as usize % connections as usize];
        server.with_wire(|wire| {
            wire.to_stack.push_back(client.frame(TcpControl::Psh, &[7; 100]));
            wire.now += Duration::from_micros(1);
        });
        request(&mut server);
        if server.with_wire(|wire| client.take(wire)) != Some(100) {
            return Err(format!("a request was not answered: {:?}", server.counters()).into());
        }
    }
    println!("{connections} connections, {requests} requests answered");
    Ok(())
}

fn arp_reply(address: Ipv4Addr) -> Vec<u8> {
    let arp = ArpRepr::EthernetIpv4 {
        operation: ArpOperation::Reply,
        source_hardware_addr: CLIENT_MAC,
        source_protocol_addr: address,
        target_hardware_addr: SERVER_MAC,
        target_protocol_addr: SERVER,
    };
    let mut bytes = vec![0; 14 + arp.buffer_len()];
    let mut frame = EthernetFrame::new_unchecked(&mut bytes[..]);
    EthernetRepr { src_addr: CLIENT_MAC, dst_addr: SERVER_MAC, ethertype: EthernetProtocol::Arp }.emit(&mut frame);
    arp.emit(&mut ArpPacket::new_unchecked(frame.payload_mut()));
    bytes
}
