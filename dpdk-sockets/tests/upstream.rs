// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What `docs/upstream` says of smoltcp 0.14, shown with smoltcp alone. A test that fails says that smoltcp was mended: then
//! take out what the stack does about it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use smoltcp::iface::{Config, Interface, PollResult, SocketHandle, SocketSet};
use smoltcp::phy::{ChecksumCapabilities, Device, DeviceCapabilities, Medium, RxToken, TxToken};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{
    HardwareAddress, IpAddress, IpCidr, IpProtocol, Ipv4Address, Ipv4Packet, Ipv4Repr, TcpControl, TcpPacket, TcpRepr,
    TcpSeqNumber,
};
use std::collections::VecDeque;

const HOST: Ipv4Address = Ipv4Address::new(192, 0, 2, 1);
const PEER: Ipv4Address = Ipv4Address::new(192, 0, 2, 2);
const CHECKSUMS: fn() -> ChecksumCapabilities = ChecksumCapabilities::default;

/// Packets to the host and from it.
#[derive(Default)]
struct Wire {
    to_host: VecDeque<Vec<u8>>,
    from_host: VecDeque<Vec<u8>>,
}

struct Packet(Vec<u8>);

struct Sender<'w>(&'w mut VecDeque<Vec<u8>>);

impl RxToken for Packet {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, read: F) -> R {
        read(&self.0)
    }
}

impl TxToken for Sender<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, write: F) -> R {
        self.0.push_back(vec![0; len]);
        write(self.0.back_mut().unwrap())
    }
}

impl Device for Wire {
    type RxToken<'w> = Packet;
    type TxToken<'w> = Sender<'w>;

    fn receive(&mut self, _: Instant) -> Option<(Packet, Sender<'_>)> {
        let packet = self.to_host.pop_front()?;
        Some((Packet(packet), Sender(&mut self.from_host)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Sender<'_>> {
        Some(Sender(&mut self.from_host))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        (capabilities.medium, capabilities.max_transmission_unit) = (Medium::Ip, 1_500);
        capabilities
    }
}

/// A host with one connection, and its peer.
struct Connection {
    wire: Wire,
    interface: Interface,
    sockets: SocketSet<'static>,
    handle: SocketHandle,
    now: Instant,
    /// The peer's next number, and what it has received.
    seq: TcpSeqNumber,
    ack: Option<TcpSeqNumber>,
}

impl Connection {
    fn new() -> Self {
        Self::with_buffers(4_096)
    }

    fn with_buffers(bytes: usize) -> Self {
        let mut wire = Wire::default();
        let mut interface = Interface::new(Config::new(HardwareAddress::Ip), &mut wire, Instant::ZERO);
        interface.update_ip_addrs(|addresses| addresses.push(IpCidr::new(IpAddress::Ipv4(HOST), 24)).unwrap());
        let mut socket = Socket::new(SocketBuffer::new(vec![0; bytes]), SocketBuffer::new(vec![0; bytes]));
        // The windows of the peer alone limit what is sent.
        socket.set_congestion_control(CongestionControl::None);
        socket.listen(80).unwrap();
        let mut sockets = SocketSet::new(Vec::new());
        let handle = sockets.add(socket);
        let mut connection =
            Self { wire, interface, sockets, handle, now: Instant::ZERO, seq: TcpSeqNumber(0), ack: None };
        connection.send(TcpControl::Syn, b"", 4_096);
        let [syn] = connection.poll()[..] else { panic!("no SYN-ACK") };
        connection.ack = Some(syn + 1);
        connection.send(TcpControl::None, b"", 4_096);
        connection.poll();
        connection
    }

    fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.handle)
    }

    /// Sends a segment of the peer.
    fn send(&mut self, control: TcpControl, payload: &[u8], window_len: u16) {
        let tcp = TcpRepr {
            src_port: 40_000,
            dst_port: 80,
            control,
            seq_number: self.seq,
            ack_number: self.ack,
            window_len,
            window_scale: (control == TcpControl::Syn).then_some(0),
            max_seg_size: None,
            sack_permitted: false,
            sack_ranges: [None; 3],
            timestamp: None,
            payload,
        };
        self.seq += tcp.segment_len();
        let ip = Ipv4Repr {
            src_addr: PEER,
            dst_addr: HOST,
            next_header: IpProtocol::Tcp,
            payload_len: tcp.buffer_len(),
            hop_limit: 64,
        };
        let mut bytes = vec![0; ip.buffer_len() + tcp.buffer_len()];
        let mut packet = Ipv4Packet::new_unchecked(&mut bytes[..]);
        ip.emit(&mut packet, &CHECKSUMS());
        let mut segment = TcpPacket::new_unchecked(packet.payload_mut());
        tcp.emit(&mut segment, &PEER.into(), &HOST.into(), &CHECKSUMS());
        self.wire.to_host.push_back(bytes);
    }

    /// Handles what was sent, and sends at most 100 segments. Returns their sequence numbers.
    fn poll(&mut self) -> Vec<TcpSeqNumber> {
        while !self.wire.to_host.is_empty() {
            self.interface.poll_ingress_single(self.now, &mut self.wire, &mut self.sockets);
        }
        for _ in 0..100 {
            let result = self.interface.poll_egress(self.now, &mut self.wire, &mut self.sockets);
            if result == PollResult::None {
                break;
            }
        }
        let number = |packet: Vec<u8>| TcpPacket::new_unchecked(&packet[20..]).seq_number();
        self.wire.from_host.drain(..).map(number).collect()
    }
}

#[test]
fn acknowledgments_for_ever_after_a_window_of_zero() {
    let mut connection = Connection::new();
    connection.socket().send_slice(&[1; 2_000]).unwrap();
    connection.socket().close();
    // Without an MSS option, a segment has 536 bytes.
    assert_eq!(connection.poll().len(), 4);
    for acknowledged in [536, 2_001 - 536] {
        connection.ack = connection.ack.map(|ack| ack + acknowledged);
        connection.send(TcpControl::None, b"", 0);
        assert!(connection.poll().is_empty());
    }
    assert_eq!(connection.socket().state(), State::FinWait2);
    connection.now += smoltcp::time::Duration::from_secs(5);
    let segments = connection.poll();
    assert_eq!(segments.len(), 100, "as many as the test lets it send");
    assert_eq!(segments[0], segments[99]);
}

#[test]
fn a_fin_is_never_repeated_after_three_duplicate_acknowledgments() {
    let mut connection = Connection::new();
    connection.socket().send_slice(b"last").unwrap();
    connection.socket().close();
    assert_eq!(connection.poll().len(), 1);
    // The peer has the data, but not the FIN.
    connection.ack = connection.ack.map(|ack| ack + 4);
    for _ in 0..4 {
        connection.send(TcpControl::None, b"", 4_096);
        assert!(connection.poll().is_empty());
    }
    connection.now += smoltcp::time::Duration::from_secs(1_000);
    assert!(connection.poll().is_empty());
    assert_eq!(connection.socket().state(), State::FinWait1);
}

#[test]
fn repetitions_that_arrive_leave_the_time_doubled() {
    let mut connection = Connection::new();
    connection.socket().send_slice(&[1; 4 * 536]).unwrap();
    assert_eq!(connection.poll().len(), 4);
    // Whatever is lost arrives when it is repeated, and the next segment is lost.
    for wait in [1, 2, 4] {
        connection.now += smoltcp::time::Duration::from_millis(wait * 1_000 - 1);
        assert!(connection.poll().is_empty(), "not before {wait} s");
        connection.now += smoltcp::time::Duration::from_millis(1);
        assert!(!connection.poll().is_empty());
        connection.ack = connection.ack.map(|ack| ack + 536);
        connection.send(TcpControl::None, b"", 4_096);
        assert!(connection.poll().is_empty());
    }
}

#[test]
fn data_with_an_old_acknowledgment_is_dropped() {
    let mut connection = Connection::new();
    connection.socket().send_slice(b"answer").unwrap();
    connection.poll();
    let (old, seq) = (connection.ack, connection.seq);
    // The network swaps two segments: an acknowledgment, and data that were sent before it.
    connection.ack = old.map(|ack| ack + 6);
    connection.seq = seq + 4;
    connection.send(TcpControl::None, b"", 4_096);
    (connection.ack, connection.seq) = (old, seq);
    connection.send(TcpControl::None, b"data", 4_096);
    connection.poll();
    assert_eq!(connection.socket().recv_queue(), 0, "RFC 9293 ignores the number and takes the data");
}

#[test]
fn acknowledgments_go_back_after_a_time_out() {
    let mut connection = Connection::new();
    connection.socket().set_ack_delay(None);
    connection.socket().send_slice(&[1; 500]).unwrap();
    let sent = connection.poll();
    // The window keeps back what is repeated.
    connection.send(TcpControl::None, b"", 0);
    connection.poll();
    connection.now += smoltcp::time::Duration::from_millis(1_200);
    connection.poll();
    connection.send(TcpControl::None, b"data", 0);
    // The peer may have received all, and then ignores this.
    assert_eq!(connection.poll(), sent, "SND.NXT is 500 higher");
}

#[test]
fn a_buffer_of_65536_bytes_takes_more_than_it_has() {
    let mut connection = Connection::with_buffers(65_536);
    // Beyond the buffer, and within the window that the SYN-ACK announced, if that is taken as scaled.
    connection.seq += 70_000;
    connection.send(TcpControl::None, b"data", 4_096);
    let panics = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| connection.poll())).is_err();
    assert!(panics);
}

#[test]
fn a_window_that_is_taken_back_is_not_probed() {
    let mut connection = Connection::new();
    connection.socket().send_slice(&[1; 500]).unwrap();
    assert_eq!(connection.poll().len(), 1);
    connection.send(TcpControl::None, b"", 0);
    for _ in 0..1_000 {
        connection.now += smoltcp::time::Duration::from_secs(1);
        assert!(connection.poll().is_empty());
    }
}

#[test]
fn a_window_that_opens_in_last_ack_is_ignored() {
    let mut connection = Connection::new();
    connection.send(TcpControl::Fin, b"", 0);
    connection.poll();
    connection.socket().send_slice(&[1; 500]).unwrap();
    connection.socket().close();
    assert!(connection.poll().is_empty());
    connection.send(TcpControl::None, b"", 4_096);
    assert_eq!(connection.poll().len(), 1, "a challenge");
    let sent = connection.ack;
    connection.now += smoltcp::time::Duration::from_secs(1);
    assert_eq!(connection.poll().into_iter().map(Some).collect::<Vec<_>>(), [sent], "a probe");
    assert_eq!((connection.socket().state(), connection.socket().send_queue()), (State::LastAck, 500));
}

#[test]
fn data_that_were_not_sent_are_acknowledged() {
    let mut connection = Connection::new();
    connection.send(TcpControl::None, b"", 100);
    connection.poll();
    connection.socket().send_slice(&[1; 200]).unwrap();
    assert_eq!(connection.poll().len(), 1);
    connection.ack = connection.ack.map(|ack| ack + 200);
    connection.send(TcpControl::None, b"", 4_096);
    assert!(connection.poll().is_empty());
    assert_eq!(connection.socket().send_queue(), 0, "100 bytes are lost");
}

#[test]
fn text_is_read_after_the_end() {
    let mut connection = Connection::new();
    connection.send(TcpControl::Fin, b"last", 4_096);
    connection.poll();
    let mut bytes = [0; 9];
    assert_eq!(connection.socket().recv_slice(&mut bytes), Ok(4));
    assert!(connection.socket().recv_slice(&mut bytes).is_err(), "the end");
    connection.send(TcpControl::None, b"more", 4_096);
    connection.poll();
    assert_eq!(connection.socket().recv_slice(&mut bytes), Ok(4));
}

#[test]
fn the_end_comes_before_text_that_is_cut_off() {
    let mut connection = Connection::with_buffers(100);
    connection.send(TcpControl::Fin, &[1; 200], 4_096);
    connection.poll();
    assert_eq!((connection.socket().state(), connection.socket().recv_queue()), (State::CloseWait, 100));
}

#[test]
fn a_fin_after_old_text_is_forgotten() {
    let mut connection = Connection::new();
    let start = connection.seq;
    connection.send(TcpControl::None, b"text", 4_096);
    connection.poll();
    connection.seq = start;
    connection.send(TcpControl::Fin, b"text", 4_096);
    connection.poll();
    assert_eq!(connection.socket().state(), State::Established);
}
