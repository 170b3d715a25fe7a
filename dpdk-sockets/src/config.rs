// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a stack is and may use.

use crate::error::ConfigError;
use core::net::Ipv4Addr;
use core::time::Duration;
use dpdk_rs::MacAddr;
use smoltcp::wire::Ipv4Cidr;

/// smoltcp 0.14 panics where a window is scaled that was not announced as scaled, so larger buffers are refused.
const LARGEST_BUFFER: usize = 65_535;

/// The addresses, limits and times of a [`Stack`](crate::Stack).
///
/// [`Config::new`] has values for all but the addresses; change the fields that do not suit.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Config {
    /// The port's MAC address, as [`Port::mac_addr`](dpdk_rs::Port::mac_addr) returns it.
    pub mac: MacAddr,
    /// The stack's address.
    pub address: Ipv4Addr,
    /// How many bits of the address are those of its network, 0 to 32.
    pub prefix_len: u8,
    /// The VLAN of the stack, 1 to 4,094: its frames have a tag, and others are ignored. Without one, frames have no tag. Leave
    /// the port's VLAN offloads off.
    pub vlan: Option<u16>,
    /// Who forwards packets to other networks.
    pub gateway: Option<Ipv4Addr>,
    /// The maximum length of an IPv4 packet, 576 to 9,000 bytes; 1,500.
    pub mtu: usize,
    /// The maximum number of connections, those in TIME-WAIT excluded; 100,000.
    pub connections: usize,
    /// For each listener, the maximum number of connections whose handshake is not complete; 1,024. SYNs beyond are answered by
    /// cookies.
    pub backlog: usize,
    /// The receive buffer of a connection, 1 to 65,535 bytes; 65,535.
    pub receive_buffer: usize,
    /// The send buffer of a connection, 1 to 65,535 bytes; 65,535.
    pub send_buffer: usize,
    /// A handshake that is not complete after this time fails; 20 s.
    pub handshake_timeout: Duration,
    /// A connection ends if the peer was not heard for so long although it had to answer; 120 s (RFC 1122, section
    /// 4.2.3.5, wants 100 s at least).
    pub user_timeout: Duration,
    /// The maximum number of connections that one address has opened to the stack; no limit but `connections`.
    pub connections_per_peer: Option<usize>,
    /// A peer that was silent for so long is asked for a sign (RFC 9293, section 3.8.4), again and again, and given up after
    /// `user_timeout`; never asked.
    pub keep_alive: Option<Duration>,
    /// A connection on which no data came or went for so long is reset; never.
    pub idle_timeout: Option<Duration>,
    /// The time in TIME-WAIT; 60 s.
    pub time_wait: Duration,
    /// The maximum number of connections in TIME-WAIT; 65,536. The oldest are forgotten first.
    pub time_waits: usize,
}

impl Config {
    /// A stack with these addresses, without a gateway.
    #[must_use]
    pub const fn new(mac: MacAddr, address: Ipv4Addr, prefix_len: u8) -> Self {
        Self {
            mac,
            address,
            prefix_len,
            vlan: None,
            gateway: None,
            mtu: 1_500,
            connections: 100_000,
            backlog: 1_024,
            receive_buffer: LARGEST_BUFFER,
            send_buffer: LARGEST_BUFFER,
            handshake_timeout: Duration::from_secs(20),
            user_timeout: Duration::from_secs(120),
            connections_per_peer: None,
            keep_alive: None,
            idle_timeout: None,
            time_wait: Duration::from_secs(60),
            time_waits: 65_536,
        }
    }

    /// The network, if everything can be used.
    pub(crate) fn network(&self) -> Result<Ipv4Cidr, ConfigError> {
        let address = self.address;
        if address.is_unspecified() || address.is_multicast() || address.is_broadcast() || address.is_loopback() {
            return Err(ConfigError::Address(address.into()));
        }
        if let Some(vlan) = self.vlan.filter(|vlan| !(1..=4_094).contains(vlan)) {
            return Err(ConfigError::Vlan(vlan));
        }
        if self.prefix_len > 32 {
            return Err(ConfigError::PrefixLength(self.prefix_len));
        }
        let network = Ipv4Cidr::new(address, self.prefix_len);
        if let Some(gateway) = self.gateway.filter(|gateway| !network.contains_addr(gateway) || *gateway == address) {
            return Err(ConfigError::Gateway(gateway.into()));
        }
        if !(576..=9_000).contains(&self.mtu) {
            return Err(ConfigError::Mtu(self.mtu));
        }
        for size in [self.receive_buffer, self.send_buffer] {
            if !(1..=LARGEST_BUFFER).contains(&size) {
                return Err(ConfigError::Buffer(size));
            }
        }
        for (name, time) in [("keep_alive", self.keep_alive), ("idle_timeout", self.idle_timeout)] {
            if time == Some(Duration::ZERO) {
                return Err(ConfigError::Time(name));
            }
        }
        Ok(network)
    }
}
