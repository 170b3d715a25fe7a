// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a stack is and may use.

use crate::error::ConfigError;
use core::net::{IpAddr, Ipv6Addr};
use core::time::Duration;
use dpdk_rs::MacAddr;
use ipnet::{IpNet, Ipv4Net, Ipv6Net};

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
    /// The stack's addresses, each with its network, such as 192.0.2.1/24 or 2001:db8::1/64. With an IPv6 address the stack also
    /// has a link-local one, made from the MAC address (RFC 4291, appendix A), unless one is given.
    pub addresses: Vec<IpNet>,
    /// Asks the network for an IPv4 address and a default route (DHCP, RFC 2131); off.
    pub dhcp: bool,
    /// Makes an IPv6 address from what routers advertise, with default routes by them (SLAAC, RFC 4862), once no other host is
    /// found to have it; off.
    pub slaac: bool,
    /// Who forwards packets to which other networks. The longest prefix is chosen.
    pub routes: Vec<Route>,
    /// The VLAN of the stack, 1 to 4,094: its frames have a tag, and others are ignored. Without one, frames have no tag. Leave
    /// the port's VLAN offloads off.
    pub vlan: Option<u16>,
    /// The maximum length of an IP packet, 576 to 9,000 bytes, with IPv6 at least 1,280; 1,500.
    pub mtu: usize,
    /// The maximum number of connections, those in TIME-WAIT excluded; 100,000.
    pub connections: usize,
    /// For each listener, the maximum number of connections whose handshake is not complete; 1,024. Each has its first buffers.
    /// SYNs beyond are answered by cookies, which take no memory; with 0, all are.
    pub backlog: usize,
    /// The receive buffer of a connection, 1 to 65,535 bytes; 65,535.
    pub receive_buffer: usize,
    /// The send buffer of a connection, 1 to 65,535 bytes; 65,535.
    pub send_buffer: usize,
    /// Each of these buffers begins with at most so many bytes, 1 to 65,535, and gets its size when it is needed: when the program
    /// sends more at a time, or when the peer has filled half of it; 4,096.
    pub initial_buffer: usize,
    /// How much is sent at once at most, as long as the peer's window allows it: what the network between is thought to
    /// take, which is 2,048 bytes at first; CUBIC. With `None`, the peer's window alone is the limit: for networks in which
    /// nobody else's frames are lost by that.
    pub congestion_control: Option<CongestionControl>,
    /// A handshake that is not complete after this time fails; 20 s.
    pub handshake_timeout: Duration,
    /// A connection ends if the peer was not heard for so long although it had to answer; 120 s (RFC 1122, section
    /// 4.2.3.5, wants 100 s at least).
    pub user_timeout: Duration,
    /// What the peer does not acknowledge is sent again after this time at the earliest, unless later segments arrive; 200 ms,
    /// as in Linux. RFC 6298, section 2.4, wants 1 s; longer ones count as 1 s.
    pub min_retransmission_timeout: Duration,
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

/// How a connection finds out what the network takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CongestionControl {
    /// That of RFC 5681.
    Reno,
    /// CUBIC (RFC 9438), as in Linux.
    Cubic,
}

/// A network that is reached by a gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The network. The bits beyond its prefix do not matter.
    pub to: IpNet,
    /// A host of a network of the stack. In IPv6, mostly its link-local address.
    pub gateway: IpAddr,
}

impl Route {
    /// The route to all networks of the gateway's version of IP.
    #[must_use]
    pub fn default_via(gateway: IpAddr) -> Self {
        let to = match gateway {
            IpAddr::V4(_) => Ipv4Net::default().into(),
            IpAddr::V6(_) => Ipv6Net::default().into(),
        };
        Self { to, gateway }
    }
}

impl Config {
    /// A stack with this address, such as 192.0.2.1/24, and without routes.
    #[must_use]
    pub fn new(mac: MacAddr, address: IpNet) -> Self {
        Self {
            mac,
            addresses: vec![address],
            dhcp: false,
            slaac: false,
            routes: Vec::new(),
            vlan: None,
            mtu: 1_500,
            connections: 100_000,
            backlog: 1_024,
            receive_buffer: LARGEST_BUFFER,
            send_buffer: LARGEST_BUFFER,
            initial_buffer: 4_096,
            congestion_control: Some(CongestionControl::Cubic),
            handshake_timeout: Duration::from_secs(20),
            user_timeout: Duration::from_secs(120),
            min_retransmission_timeout: Duration::from_millis(200),
            connections_per_peer: None,
            keep_alive: None,
            idle_timeout: None,
            time_wait: Duration::from_secs(60),
            time_waits: 65_536,
        }
    }

    /// A stack that asks the network for its addresses and routes, by DHCP and SLAAC. Until they come it has none but a link-local
    /// one: see [`Event::Addresses`](crate::Event::Addresses).
    #[must_use]
    pub fn automatic(mac: MacAddr) -> Self {
        let nothing = Self::new(mac, Ipv4Net::default().into());
        Self { addresses: Vec::new(), dhcp: true, slaac: true, ..nothing }
    }

    /// All addresses, the link-local one included.
    pub(crate) fn all_addresses(&self) -> Vec<IpNet> {
        let wants_one = self.slaac || self.addresses.iter().any(|net| matches!(net, IpNet::V6(_)));
        let has_one = self.addresses.iter().any(|net| is_link_local(net.addr()));
        let made = (wants_one && !has_one).then(|| Ipv6Net::new_assert(link_local(self.mac), 64).into());
        self.addresses.iter().copied().chain(made).collect()
    }

    /// # Errors
    ///
    /// [`ConfigError`] if something cannot be used.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if self.addresses.is_empty() && !self.dhcp && !self.slaac {
            return Err(ConfigError::NoAddress);
        }
        if let Some(net) = self.addresses.iter().find(|net| !is_unicast(net.addr()) || is_for_all(net, net.addr())) {
            return Err(ConfigError::Address(net.addr()));
        }
        if let Some(vlan) = self.vlan.filter(|vlan| !(1..=4_094).contains(vlan)) {
            return Err(ConfigError::Vlan(vlan));
        }
        let addresses = self.all_addresses();
        let is_host = |host: &IpAddr| {
            is_unicast(*host)
                && addresses.iter().any(|net| net.contains(host))
                && addresses.iter().all(|net| net.addr() != *host && !is_for_all(net, *host))
        };
        let is_other_version = |route: &&Route| route.to.addr().is_ipv4() != route.gateway.is_ipv4();
        if let Some(route) = self.routes.iter().find(|route| !is_host(&route.gateway) || is_other_version(route)) {
            return Err(ConfigError::Gateway(route.gateway));
        }
        let shortest = if addresses.iter().any(|net| net.addr().is_ipv6()) { 1_280 } else { 576 };
        if !(shortest..=9_000).contains(&self.mtu) {
            return Err(ConfigError::Mtu(self.mtu, shortest));
        }
        for size in [self.receive_buffer, self.send_buffer, self.initial_buffer] {
            if !(1..=LARGEST_BUFFER).contains(&size) {
                return Err(ConfigError::Buffer(size));
            }
        }
        for (name, time) in [("keep_alive", self.keep_alive), ("idle_timeout", self.idle_timeout)] {
            if time == Some(Duration::ZERO) {
                return Err(ConfigError::Time(name));
            }
        }
        Ok(())
    }
}

/// Whether a host can have this address.
pub(crate) fn is_unicast(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            !address.is_unspecified() && !address.is_multicast() && !address.is_broadcast() && !address.is_loopback()
        }
        // Addresses of IPv4 in the form of IPv6 never leave a host (RFC 4291, section 2.5.5.2).
        IpAddr::V6(address) => {
            !address.is_unspecified()
                && !address.is_multicast()
                && !address.is_loopback()
                && address.to_ipv4_mapped().is_none()
        }
    }
}

/// Whether an address stands for all hosts of a network. One of less than four addresses has none (RFC 3021).
pub(crate) fn is_for_all(net: &IpNet, address: IpAddr) -> bool {
    matches!(net, IpNet::V4(net) if net.prefix_len() <= 30 && address == net.broadcast())
}

/// The link-local address of an interface with this MAC address (RFC 4291, appendix A).
/// Whether this is a link-local address of IPv6. Those of IPv4 are as others.
pub(crate) const fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => false,
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

/// The link-local address that is made from a MAC address.
pub(crate) fn link_local(mac: MacAddr) -> Ipv6Addr {
    let [a, b, c, d, e, f] = mac.0;
    let interface = u64::from_be_bytes([a ^ 2, b, c, 0xff, 0xfe, d, e, f]);
    Ipv6Addr::from_bits(0xfe80 << 112 | u128::from(interface))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_link_local_address_is_made_where_none_is_given() {
        let mac = MacAddr([0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde]);
        let mut config = Config::new(mac, "192.0.2.1/24".parse().unwrap());
        assert_eq!(config.all_addresses(), config.addresses);
        config.addresses.push("2001:db8::1/64".parse().unwrap());
        // The example of RFC 4291, appendix A, with its bits.
        let made = "fe80::3656:78ff:fe9a:bcde/64".parse().unwrap();
        assert_eq!(config.all_addresses(), [config.addresses.clone(), vec![made]].concat());
        config.addresses.push("fe80::1/64".parse().unwrap());
        assert_eq!(config.all_addresses(), config.addresses);
    }
}
