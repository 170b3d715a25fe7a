// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The frames from which mutants are made: one of each kind that the workloads distinguish.

use crate::{
    contract::Workload,
    frames::{
        DO_NOT_FRAGMENT, Ipv4, MORE_FRAGMENTS, authentication, data, echo, ethernet,
        ethertype::{IPV4, IPV6, SERVICE_TAG, TAG},
        fragment, ipv6, options,
        protocol::{AUTHENTICATION, DESTINATION_OPTIONS, FRAGMENT, GRE, HOP_BY_HOP, ICMP, ICMPV6, ROUTING, TCP, UDP},
        routing, tcp, udp,
    },
};

/// A well-formed frame, and where its parts begin.
#[derive(Clone, Debug)]
pub struct Seed {
    /// What it is.
    pub name: &'static str,
    /// Its bytes.
    pub frame: Vec<u8>,
    /// The place of the IP header.
    pub ip: usize,
    /// The places of IPv6's extension headers.
    pub extensions: Vec<usize>,
    /// The place of the UDP header.
    pub udp: Option<usize>,
    /// The place of the TCP header.
    pub tcp: Option<usize>,
}

impl Seed {
    /// Whether its packet is IPv4.
    pub fn is_ipv4(&self) -> bool {
        self.frame[self.ip] >> 4 == 4
    }

    fn new(name: &'static str, tags: &[u16], packet: &[u8]) -> Self {
        let ethertype = if packet[0] >> 4 == 4 { IPV4 } else { IPV6 };
        let frame = ethernet(tags, ethertype, packet);
        Self { name, frame, ip: 14 + 4 * tags.len(), extensions: Vec::new(), udp: None, tcp: None }
    }

    fn v4(name: &'static str, packet: &[u8]) -> Self {
        Self::new(name, &[], packet)
    }

    /// With a UDP header, this many bytes after the start of IP.
    fn udp(mut self, behind: usize) -> Self {
        self.udp = Some(self.ip + behind);
        self
    }

    fn tcp(mut self, behind: usize) -> Self {
        self.tcp = Some(self.ip + behind);
        self
    }

    /// With extension headers, this many bytes after the start of IP.
    fn extensions(mut self, behind: &[usize]) -> Self {
        self.extensions = behind.iter().map(|behind| self.ip + behind).collect();
        self
    }

    /// With bytes after the packet.
    fn padded(mut self, bytes: usize) -> Self {
        self.frame.extend(vec![0; bytes]);
        self
    }
}

/// The frames for a workload: IPv4 for those that rewrite, all kinds for the one that reads.
pub fn seeds(workload: Workload) -> Vec<Seed> {
    let mut seeds = over_ipv4();
    if workload == Workload::W4 {
        seeds.extend(tagged());
        seeds.extend(over_ipv6());
    }
    seeds
}

fn over_ipv4() -> Vec<Seed> {
    let to_udp = Ipv4::new(UDP);
    vec![
        Seed::v4("UDP", &to_udp.with_udp(&data(64))).udp(20),
        Seed::v4("UDP of odd length, padded", &to_udp.with_udp(&data(5))).udp(20).padded(13),
        Seed::v4("UDP without a checksum", &to_udp.with(&udp(&data(18)))).udp(20),
        Seed::v4("UDP without data", &to_udp.with_udp(&[])).udp(20),
        Seed::v4("UDP shorter than its packet", &to_udp.with(&[udp(&data(10)), data(9)].concat())).udp(20),
        Seed::v4("UDP behind options", &to_udp.clone().options(3).with_udp(&data(33))).udp(32),
        Seed::v4("UDP behind all options", &to_udp.clone().options(10).with_udp(&data(2))).udp(60),
        Seed::v4("UDP not to be fragmented", &to_udp.clone().fragment(DO_NOT_FRAGMENT).with_udp(&data(18))).udp(20),
        // Its length is that of the whole datagram, of which only a part is here.
        Seed::v4("first fragment of UDP", &to_udp.clone().fragment(MORE_FRAGMENTS).with(&udp(&data(400))[..40]))
            .udp(20),
        Seed::v4("later fragment of UDP", &to_udp.clone().fragment(5).with(&data(24))),
        Seed::v4("short later fragment of UDP", &to_udp.fragment(5).with(&data(3))),
        Seed::v4("TCP", &Ipv4::new(TCP).with(&tcp(0, &data(12)))).tcp(20),
        Seed::v4("TCP with options", &Ipv4::new(TCP).with(&tcp(3, &[]))).tcp(20),
        Seed::v4("TCP behind options", &Ipv4::new(TCP).options(1).with(&tcp(2, &data(1)))).tcp(24),
        Seed::v4("ICMP", &Ipv4::new(ICMP).with(&echo(8, &data(24)))),
        Seed::v4("GRE", &Ipv4::new(GRE).with(&data(16))),
        Seed::v4("no payload", &Ipv4::new(GRE).with(&[])),
    ]
}

fn tagged() -> Vec<Seed> {
    let packet = Ipv4::new(UDP).with_udp(&data(20));
    let segment = ipv6(TCP, &tcp(0, &data(4)));
    let guarded = authentication(UDP, &udp(&data(10)));
    vec![
        Seed::new("tagged UDP", &[TAG], &packet).udp(20),
        Seed::new("UDP in two tags", &[SERVICE_TAG, TAG], &packet).udp(20),
        Seed::new("tagged TCP over IPv6", &[TAG], &segment).tcp(40),
        Seed::new("TCP over IPv6 in two tags", &[SERVICE_TAG, TAG], &segment).tcp(40),
        Seed::v4("authenticated UDP", &Ipv4::new(AUTHENTICATION).with(&guarded)).extensions(&[20]).udp(44),
    ]
}

fn over_ipv6() -> Vec<Seed> {
    let datagram = udp(&data(22));
    let segment = tcp(1, &data(3));
    let to = |next, payload: &[u8]| ipv6(next, payload);
    let all = authentication(UDP, &datagram);
    let all = options(AUTHENTICATION, 1, &all);
    let all = fragment(DESTINATION_OPTIONS, 0, false, &all);
    let all = routing(FRAGMENT, &all);
    let all = options(ROUTING, 2, &all);
    vec![
        Seed::new("UDP over IPv6", &[], &to(UDP, &datagram)).udp(40),
        Seed::new("UDP over IPv6, padded", &[], &to(UDP, &udp(&[1]))).udp(40).padded(11),
        Seed::new("TCP over IPv6", &[], &to(TCP, &segment)).tcp(40),
        Seed::new("ICMPv6", &[], &to(ICMPV6, &echo(128, &data(8)))),
        Seed::new("options of hops", &[], &to(HOP_BY_HOP, &options(UDP, 1, &datagram))).extensions(&[40]).udp(48),
        Seed::new("options of the destination", &[], &to(DESTINATION_OPTIONS, &options(TCP, 3, &segment)))
            .extensions(&[40])
            .tcp(64),
        Seed::new("route", &[], &to(ROUTING, &routing(UDP, &datagram))).extensions(&[40]).udp(64),
        Seed::new("all extension headers", &[], &to(HOP_BY_HOP, &all)).extensions(&[40, 56, 80, 88, 96]).udp(120),
        Seed::new("authenticated UDP over IPv6", &[], &to(AUTHENTICATION, &authentication(UDP, &datagram)))
            .extensions(&[40])
            .udp(64),
        Seed::new("first fragment over IPv6", &[], &to(FRAGMENT, &fragment(UDP, 0, true, &udp(&data(99))[..32])))
            .extensions(&[40])
            .udp(48),
        Seed::new("later fragment over IPv6", &[], &to(FRAGMENT, &fragment(UDP, 4, true, &data(24)))).extensions(&[40]),
        Seed::new("last fragment over IPv6", &[], &to(FRAGMENT, &fragment(TCP, 9, false, &data(3)))).extensions(&[40]),
        Seed::new("nothing over IPv6", &[], &to(59, &[])),
    ]
}
