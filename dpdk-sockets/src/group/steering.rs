// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Which stack of a group has a connection.

use core::hash::BuildHasher;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use dpdk_rs::port::{Port, RssFields, RssFlow, RssHash, Started};
use std::collections::hash_map::RandomState;

/// The length of a key in bytes, as NICs have it.
const KEY_LEN: usize = 40;

const NO_IPV4: Ipv4Addr = Ipv4Addr::UNSPECIFIED;
const NO_IPV6: Ipv6Addr = Ipv6Addr::UNSPECIFIED;

/// Which stack of a [group](crate::Stack::group) has a connection, by a hash of its addresses and ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Steering {
    hash: RssHash,
    /// The stack for each remainder of the hash.
    table: Vec<u16>,
}

impl Steering {
    /// As the device distributes segments over its RX queues: the stack of queue 0 is the first one, and so on. `None` if the
    /// device does not do that by the ports of TCP in IPv4 and IPv6 (receive side scaling).
    #[must_use]
    pub fn of(port: &Port<Started>) -> Option<Self> {
        Self::new(port.rss_hash().ok()?, port.rss_table().ok()?)
    }

    /// As a device does it with this hash and this redirection table, which has the number of a stack for each remainder of the
    /// hash. `None` as of [`of`](Self::of).
    #[must_use]
    pub fn new(hash: RssHash, table: Vec<u16>) -> Option<Self> {
        let steering = Self { hash, table };
        let covers_ports = |flow: RssFlow| {
            let [one, other] = [1, 2].map(|port| steering.hash.hash(&flow.tcp(port, 80)));
            one.is_some() && one != other
        };
        let (ipv4, ipv6) = (RssFlow::ipv4(NO_IPV4, NO_IPV4), RssFlow::ipv6(NO_IPV6, NO_IPV6));
        (covers_ports(ipv4) && covers_ports(ipv6)).then_some(steering)
    }

    /// By a hash of the stacks themselves, with a random key, for devices that do otherwise. Segments that come to another
    /// stack are passed on.
    #[must_use]
    pub fn computed(stacks: u16) -> Self {
        let random = RandomState::new();
        let key: Vec<u8> = (0..KEY_LEN / 8).flat_map(|number| random.hash_one(number).to_ne_bytes()).collect();
        Self { hash: RssHash::new(RssFields::IP | RssFields::TCP, key), table: (0..stacks).collect() }
    }

    /// The number of the stack that has the connection between a local and a remote address and port.
    #[must_use]
    pub fn stack(&self, local: SocketAddr, remote: SocketAddr) -> usize {
        let addresses = match (remote.ip(), local.ip()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => RssFlow::ipv4(from, to),
            (IpAddr::V6(from), IpAddr::V6(to)) => RssFlow::ipv6(from, to),
            // No packet has such addresses.
            _ => RssFlow::ipv4(NO_IPV4, NO_IPV4),
        };
        let flow = addresses.tcp(remote.port(), local.port());
        self.hash.queue(&flow, &self.table).unwrap_or(0).into()
    }

    /// How many stacks it is for; 0 if some of them would have no connection.
    #[must_use]
    pub fn stacks(&self) -> usize {
        let most = self.table.iter().max().map_or(0, |most| usize::from(*most) + 1);
        if (0..most).all(|stack| self.table.iter().any(|other| usize::from(*other) == stack)) { most } else { 0 }
    }
}
