// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A peer on the same network whose segments are made by hand.

use core::net::{Ipv4Addr, SocketAddr};
use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_sockets::wire::Memory;
use dpdk_sockets::{Config, Event, IpNet, Stack};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, IpProtocol,
    Ipv4Packet, Ipv4Repr, TcpControl, TcpPacket, TcpRepr, TcpSeqNumber,
};

pub(crate) const STACK: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
pub(crate) const PEER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
pub(crate) const STACK_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 1]);
pub(crate) const PEER_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 2]);
/// The port of the stack's listener.
pub(crate) const PORT: u16 = 80;
/// A window so large that it limits nothing.
pub(crate) const WINDOW: u16 = 50_000;

/// The window that the peer announces is the only one.
pub(crate) fn config() -> Config {
    let mut config = Config::new(MacAddr(STACK_MAC.0), IpNet::new_assert(STACK.into(), 24));
    config.congestion_control = None;
    // Buffers that grow have tests of their own.
    config.initial_buffer = 65_535;
    // As RFC 6298 has it, and as the engine has it too.
    config.min_retransmission_timeout = Duration::from_secs(1);
    config
}

/// A stack, and the peer's side of one connection.
pub(crate) struct Peer {
    pub(crate) stack: Stack<Memory>,
    pub(crate) address: Ipv4Addr,
    /// The peer's port and the stack's.
    pub(crate) ports: (u16, u16),
    /// The peer's next sequence number.
    pub(crate) seq: TcpSeqNumber,
    /// What it has received.
    pub(crate) ack: Option<TcpSeqNumber>,
    /// The maximum segment size and the shift of windows in its SYNs.
    pub(crate) syn_options: (Option<u16>, Option<u8>),
    /// It answers ARP by itself.
    pub(crate) has_arp: bool,
}

/// A segment from the stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Got {
    pub(crate) control: TcpControl,
    pub(crate) seq: TcpSeqNumber,
    pub(crate) ack: Option<TcpSeqNumber>,
    pub(crate) window: u16,
    pub(crate) data: Vec<u8>,
    pub(crate) ports: (u16, u16),
    /// With their padding.
    pub(crate) options: Vec<u8>,
}

impl Peer {
    pub(crate) fn new(config: Config) -> Self {
        let mut stack = Stack::new(Memory::default(), config).unwrap();
        stack.listen(PORT).unwrap();
        Self {
            stack,
            address: PEER,
            ports: (40_000, PORT),
            seq: TcpSeqNumber(-5),
            ack: None,
            syn_options: (Some(1_460), None),
            has_arp: true,
        }
    }

    /// A peer with an established connection to the stack's listener, and the connection.
    pub(crate) fn connected() -> (Self, dpdk_sockets::ConnectionId) {
        let mut peer = Self::new(config());
        peer.handshake();
        let Some(Event::Accepted(_, id)) = peer.stack.next_event() else { panic!("not accepted") };
        (peer, id)
    }

    /// Opens a connection to the stack's listener.
    pub(crate) fn handshake(&mut self) {
        self.ack = None;
        self.send(TcpControl::Syn, b"");
        let [syn] = &self.poll()[..] else { panic!("no SYN-ACK") };
        assert_eq!((syn.control, syn.ack), (TcpControl::Syn, Some(self.seq)));
        self.ack = Some(syn.seq + 1);
        self.send(TcpControl::None, b"");
        assert_eq!(self.poll(), []);
    }

    /// Sends what follows what was sent.
    pub(crate) fn send(&mut self, control: TcpControl, data: &[u8]) {
        let seq = self.seq;
        self.segment(control, seq, self.ack, data);
        self.seq = seq + control.len() + data.len();
    }

    /// Sends any segment.
    pub(crate) fn segment(&mut self, control: TcpControl, seq: TcpSeqNumber, ack: Option<TcpSeqNumber>, data: &[u8]) {
        self.segment_with_window(control, seq, ack, data, WINDOW);
    }

    /// Sends any segment.
    pub(crate) fn segment_with_window(
        &mut self,
        control: TcpControl,
        seq: TcpSeqNumber,
        ack: Option<TcpSeqNumber>,
        data: &[u8],
        window: u16,
    ) {
        let is_syn = control == TcpControl::Syn;
        let tcp = TcpRepr {
            src_port: self.ports.0,
            dst_port: self.ports.1,
            control,
            seq_number: seq,
            ack_number: ack,
            window_len: window,
            window_scale: self.syn_options.1.filter(|_| is_syn),
            max_seg_size: self.syn_options.0.filter(|_| is_syn),
            sack_permitted: false,
            sack_ranges: [None; 3],
            timestamp: None,
            payload: data,
        };
        let frame = frame(self.address, &tcp);
        self.stack.wire_mut().to_stack.push_back(frame);
    }

    /// Changes the frame that was sent last.
    pub(crate) fn change(&mut self, change: impl FnOnce(Vec<u8>) -> Vec<u8>) {
        let queue = &mut self.stack.wire_mut().to_stack;
        let frame = queue.pop_back().expect("a frame");
        queue.push_back(change(frame));
    }

    /// Acknowledges what the stack has sent.
    pub(crate) fn acknowledge(&mut self, got: &Got) {
        self.ack = Some(got.seq + got.control.len() + got.data.len());
        self.send(TcpControl::None, b"");
    }

    /// Polls the stack until it is quiet, and returns its segments.
    pub(crate) fn poll(&mut self) -> Vec<Got> {
        let mut got = Vec::new();
        for _ in 0..100 {
            self.stack.poll();
            let frames: Vec<_> = self.stack.wire_mut().from_stack.drain(..).collect();
            if frames.is_empty() && self.stack.wire().to_stack.is_empty() {
                self.stack.poll();
                if self.stack.wire().from_stack.is_empty() {
                    return got;
                }
            }
            for frame in frames {
                got.extend(self.receive(&frame));
            }
        }
        panic!("the stack does not come to rest");
    }

    /// Polls the stack a few times, and returns its segments. There may be more.
    pub(crate) fn poll_some(&mut self) -> Vec<Got> {
        let mut got = Vec::new();
        for _ in 0..3 {
            self.stack.poll();
            let frames: Vec<_> = self.stack.wire_mut().from_stack.drain(..).collect();
            got.extend(frames.iter().filter_map(|frame| self.receive(frame)));
        }
        got
    }

    /// The time goes on, and the stack is polled every millisecond.
    pub(crate) fn wait(&mut self, time: Duration) -> Vec<Got> {
        let end = self.stack.wire().now + time;
        let mut got = Vec::new();
        while self.stack.wire().now < end {
            self.stack.wire_mut().now += Duration::from_millis(1);
            got.append(&mut self.poll());
        }
        got
    }

    /// The time goes on in one step.
    pub(crate) fn jump(&mut self, time: Duration) -> Vec<Got> {
        self.stack.wire_mut().now += time;
        self.poll()
    }

    /// A frame from the stack. ARP is answered, segments are returned.
    pub(crate) fn receive(&mut self, bytes: &[u8]) -> Option<Got> {
        let frame = EthernetFrame::new_checked(bytes).unwrap();
        match frame.ethertype() {
            EthernetProtocol::Arp => {
                let arp = ArpRepr::parse(&ArpPacket::new_checked(frame.payload()).unwrap()).unwrap();
                let ArpRepr::EthernetIpv4 { operation, target_protocol_addr, .. } = arp else { panic!("{arp:?}") };
                if operation == ArpOperation::Request && self.has_arp {
                    let answer = arp_packet(ArpOperation::Reply, target_protocol_addr);
                    self.stack.wire_mut().to_stack.push_back(answer);
                }
                None
            }
            EthernetProtocol::Ipv4 => {
                assert_eq!((frame.src_addr(), frame.dst_addr()), (STACK_MAC, PEER_MAC));
                let ip = Ipv4Packet::new_checked(frame.payload()).unwrap();
                assert!(ip.verify_checksum());
                assert_eq!((ip.src_addr(), ip.hop_limit()), (STACK, 64));
                let tcp = TcpPacket::new_checked(ip.payload()).unwrap();
                let options = tcp.options().to_vec();
                let (from, to) = (ip.src_addr(), ip.dst_addr());
                let tcp = TcpRepr::parse(&tcp, &from.into(), &to.into(), &ChecksumCapabilities::default()).unwrap();
                Some(Got {
                    control: tcp.control,
                    seq: tcp.seq_number,
                    ack: tcp.ack_number,
                    window: tcp.window_len,
                    data: tcp.payload.to_vec(),
                    ports: (tcp.src_port, tcp.dst_port),
                    options,
                })
            }
            other => panic!("a frame of type {other}"),
        }
    }
}

/// A frame to the stack.
pub(crate) fn frame(from: Ipv4Addr, tcp: &TcpRepr<'_>) -> Vec<u8> {
    let ip = Ipv4Repr {
        src_addr: from,
        dst_addr: STACK,
        next_header: IpProtocol::Tcp,
        payload_len: tcp.buffer_len(),
        hop_limit: 64,
    };
    let mut bytes = vec![0; 14 + ip.buffer_len() + tcp.buffer_len()];
    let mut frame = EthernetFrame::new_unchecked(&mut bytes[..]);
    EthernetRepr { src_addr: PEER_MAC, dst_addr: STACK_MAC, ethertype: EthernetProtocol::Ipv4 }.emit(&mut frame);
    let checksums = ChecksumCapabilities::default();
    let mut packet = Ipv4Packet::new_unchecked(frame.payload_mut());
    ip.emit(&mut packet, &checksums);
    tcp.emit(&mut TcpPacket::new_unchecked(packet.payload_mut()), &from.into(), &STACK.into(), &checksums);
    bytes
}

/// An ARP packet of the peer for an address of its, to the stack.
pub(crate) fn arp_packet(operation: ArpOperation, address: Ipv4Addr) -> Vec<u8> {
    let arp = ArpRepr::EthernetIpv4 {
        operation,
        source_hardware_addr: PEER_MAC,
        source_protocol_addr: address,
        target_hardware_addr: STACK_MAC,
        target_protocol_addr: STACK,
    };
    let mut bytes = vec![0; 14 + arp.buffer_len()];
    let mut frame = EthernetFrame::new_unchecked(&mut bytes[..]);
    EthernetRepr { src_addr: PEER_MAC, dst_addr: STACK_MAC, ethertype: EthernetProtocol::Arp }.emit(&mut frame);
    arp.emit(&mut ArpPacket::new_unchecked(frame.payload_mut()));
    bytes
}

/// All events.
pub(crate) fn events(stack: &mut Stack<Memory>) -> Vec<Event> {
    core::iter::from_fn(|| stack.next_event()).collect()
}

/// Remote address and port of the peer.
pub(crate) fn peer_socket(port: u16) -> SocketAddr {
    SocketAddr::new(PEER.into(), port)
}
