// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The example `nat44`. Its inside is captures that are received over and over; its outside is rings that receive what they have
//! sent, so that what is for the gateway's own address comes back as if from a host there, and goes to whose flow it is for.

use crate::{
    capture::{read, write},
    process::{example, example_until, folder, isolated_bare},
};
use smoltcp::{
    phy::ChecksumCapabilities,
    wire::{
        ArpOperation, ArpPacket, ArpRepr, EthernetAddress, EthernetFrame, EthernetProtocol, EthernetRepr, Icmpv4Packet,
        Icmpv4Repr, IpProtocol, Ipv4Packet, Ipv4Repr, TcpPacket, UdpPacket, UdpRepr,
    },
};
use std::{fs, net::Ipv4Addr, path::Path};

const INSIDE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const OUTSIDE: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const HOSTS: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 0, 0, 2), Ipv4Addr::new(10, 0, 0, 3)];
const PAYLOAD: &[u8] = b"an odd number of bytes.";

fn ethernet(protocol: EthernetProtocol, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; 14 + len];
    let (src_addr, dst_addr) = (EthernetAddress([2, 0, 0, 0, 0, 9]), EthernetAddress::BROADCAST);
    EthernetRepr { src_addr, dst_addr, ethertype: protocol }.emit(&mut EthernetFrame::new_unchecked(&mut bytes[..]));
    bytes
}

/// The question of a host for the gateway's address.
fn arp(host: Ipv4Addr) -> Vec<u8> {
    let mut bytes = ethernet(EthernetProtocol::Arp, 28);
    let question = ArpRepr::EthernetIpv4 {
        operation: ArpOperation::Request,
        source_hardware_addr: EthernetAddress([2, 0, 0, 0, 0, 9]),
        source_protocol_addr: host,
        target_hardware_addr: EthernetAddress([0; 6]),
        target_protocol_addr: INSIDE,
    };
    question.emit(&mut ArpPacket::new_unchecked(&mut bytes[14..]));
    bytes
}

/// A packet of a host for the gateway's address outside.
fn ipv4(host: Ipv4Addr, next_header: IpProtocol, payload: &[u8]) -> Vec<u8> {
    let repr = Ipv4Repr { src_addr: host, dst_addr: OUTSIDE, next_header, payload_len: payload.len(), hop_limit: 64 };
    let mut bytes = ethernet(EthernetProtocol::Ipv4, 20 + payload.len());
    let mut packet = Ipv4Packet::new_unchecked(&mut bytes[14..]);
    repr.emit(&mut packet, &ChecksumCapabilities::default());
    packet.payload_mut().copy_from_slice(payload);
    bytes
}

fn udp(host: Ipv4Addr, src_port: u16, dst_port: u16) -> Vec<u8> {
    let mut bytes = vec![0; 8 + PAYLOAD.len()];
    UdpRepr { src_port, dst_port }.emit(
        &mut UdpPacket::new_unchecked(&mut bytes[..]),
        &host.into(),
        &OUTSIDE.into(),
        PAYLOAD.len(),
        |payload| payload.copy_from_slice(PAYLOAD),
        &ChecksumCapabilities::default(),
    );
    ipv4(host, IpProtocol::Udp, &bytes)
}

fn tcp(host: Ipv4Addr, source: u16, destination: u16) -> Vec<u8> {
    let mut bytes = vec![0; 20];
    bytes.extend(PAYLOAD);
    let mut segment = TcpPacket::new_unchecked(&mut bytes[..]);
    segment.set_src_port(source);
    segment.set_dst_port(destination);
    segment.set_header_len(20);
    segment.set_ack(true);
    segment.fill_checksum(&host.into(), &OUTSIDE.into());
    ipv4(host, IpProtocol::Tcp, &bytes)
}

fn echo(host: Ipv4Addr, ident: u16) -> Vec<u8> {
    let repr = Icmpv4Repr::EchoRequest { ident, seq_no: 1, data: PAYLOAD };
    let mut bytes = vec![0; repr.buffer_len()];
    repr.emit(&mut Icmpv4Packet::new_unchecked(&mut bytes[..]), &ChecksumCapabilities::default());
    ipv4(host, IpProtocol::Icmp, &bytes)
}

/// What a frame inside is, if its checksums are right: protocol, host, and the ports, or the identifier twice.
fn arrived(frame: &[u8]) -> (IpProtocol, Ipv4Addr, u16, u16) {
    let packet = Ipv4Packet::new_checked(&frame[14..]).unwrap();
    assert!(packet.verify_checksum() && packet.hop_limit() == 62, "{packet}");
    let (source, destination) = (packet.src_addr(), packet.dst_addr());
    assert_eq!(source, OUTSIDE);
    let (ports, payload) = match packet.next_header() {
        IpProtocol::Udp => {
            let udp = UdpPacket::new_checked(packet.payload()).unwrap();
            assert!(udp.verify_checksum(&source.into(), &destination.into()), "{udp}");
            ((udp.src_port(), udp.dst_port()), udp.payload())
        }
        IpProtocol::Tcp => {
            let tcp = TcpPacket::new_checked(packet.payload()).unwrap();
            assert!(tcp.verify_checksum(&source.into(), &destination.into()), "{tcp}");
            ((tcp.src_port(), tcp.dst_port()), tcp.payload())
        }
        _ => {
            let icmp = Icmpv4Packet::new_checked(packet.payload()).unwrap();
            assert!(icmp.verify_checksum(), "{icmp}");
            ((icmp.echo_ident(), icmp.echo_ident()), icmp.data())
        }
    };
    assert_eq!(payload, PAYLOAD);
    (packet.next_header(), destination, ports.0, ports.1)
}

/// Whether the file has the beginning of the first such frame from us to a host, as far as it is written.
fn has(file: &Path, host: Ipv4Addr, protocol: IpProtocol) -> bool {
    let bytes = fs::read(file).unwrap_or_default();
    // From the protocol on: a checksum, the addresses.
    bytes.windows(11).any(|window| {
        window[0] == u8::from(protocol) && window[3..7] == OUTSIDE.octets() && window[7..] == host.octets()
    })
}

/// Worker 0 has the even ports and the first capture, worker 1 the odd ones and the second. The flows get ports as they come.
#[test]
fn flows_are_translated_there_and_back_also_between_workers() {
    isolated_bare(|| {
        let [first, second] = HOSTS;
        let frames = [
            vec![arp(first), udp(first, 5000, 1024), tcp(first, 5001, 1025)],
            vec![arp(second), tcp(second, 5002, 1026), echo(second, 5003)],
        ];
        let files = [0, 1].map(|port| ["in", "out"].map(|name| folder().join(format!("{name}{port}.pcap"))));
        let mut device = "net_pcap0,infinite_rx=1".to_owned();
        for ([input, out], frames) in files.iter().zip(&frames) {
            write(input, frames);
            device += &format!(",rx_pcap={},tx_pcap={}", input.display(), out.display());
        }
        let [[_, first_out], [_, second_out]] = &files;
        // Captures that would only grow are enough too, and then lack something.
        let is_long = |file: &Path| fs::metadata(file).is_ok_and(|file| file.len() > 32 << 20);
        let enough = || {
            is_long(first_out)
                || is_long(second_out)
                || has(first_out, first, IpProtocol::Udp)
                    && has(first_out, first, IpProtocol::Tcp)
                    && has(second_out, second, IpProtocol::Tcp)
                    && has(second_out, second, IpProtocol::Icmp)
        };
        let own_args = ["--", "10.0.0.1", "192.0.2.1"];
        let finished = example_until("nat44", &[&device, "net_ring1"], &own_args, enough);
        assert!(finished.status.success(), "{}; stderr:\n{}", finished.status, finished.stderr);
        let lines: Vec<&str> = finished.stdout.lines().collect();
        assert!(lines[0].starts_with("port 0 (net_pcap0): 10.0.0.1 at "), "{lines:?}");
        assert_eq!(lines[2], "translating on 2 lcores, stop with Ctrl-C");
        assert!(lines[3].starts_with("worker 0: "), "{lines:?}");

        let [mut to_first, mut to_second] = [first_out, second_out].map(|file| {
            let (answers, frames): (Vec<_>, Vec<_>) =
                read(file).into_iter().partition(|frame| frame[12..14] == [0x08, 0x06]);
            assert!(!answers.is_empty(), "hosts ask by ARP");
            frames.iter().map(|frame| arrived(frame)).collect::<Vec<_>>()
        });
        for arrived in [&mut to_first, &mut to_second] {
            arrived.sort_unstable_by_key(|&(protocol, ..)| u8::from(protocol));
            arrived.dedup();
        }
        assert_eq!(to_first, [(IpProtocol::Tcp, first, 1025, 5001), (IpProtocol::Udp, first, 1024, 5000)]);
        assert_eq!(to_second, [(IpProtocol::Icmp, second, 5003, 5003), (IpProtocol::Tcp, second, 1026, 5002)]);
    });
}

#[test]
fn what_the_gateway_needs_is_said() {
    for (devices, own_args, words) in [
        (
            &["net_null0"][..],
            &["--", "10.0.0.1", "192.0.2.1"][..],
            "1 ports: give two with --vdev or -a, the inside first",
        ),
        (&[], &[], "give the gateway's addresses inside and outside after --"),
        (&[], &["--", "10.0.0", "192.0.2.1"], "address \\\"10.0.0\\\": invalid IPv4 address"),
    ] {
        let finished = example("nat44", devices, own_args);
        assert_eq!(finished.status.code(), Some(1));
        assert!(finished.stderr.contains(words), "{}", finished.stderr);
    }
}
