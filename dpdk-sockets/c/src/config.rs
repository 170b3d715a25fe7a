// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a stack is and may use.

use crate::error::Error;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::time::Duration;
use dpdk_rs::MacAddr;
use dpdk_sockets::{IpNet, Route};

/// The addresses, limits and times of a stack. The rest of an initialiser that names only the addresses is 0, and a 0 means the
/// default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The stack's IPv4 address: 192.0.2.1 is {192, 0, 2, 1}. Default: none. One of the two addresses must be given, or dhcp or
    /// slaac be set.
    pub ipv4: [u8; 4],
    /// Who forwards IPv4 packets to other networks. Default: nobody.
    pub ipv4_gateway: [u8; 4],
    /// How many bits of the address are those of its network, 0 to 32. Here, 0 is no default.
    pub ipv4_prefix_len: u8,
    /// The stack's IPv6 address, as inet_pton() writes it. Default: none. The stack also has a link-local address.
    pub ipv6: [u8; 16],
    /// Who forwards IPv6 packets to other networks. Default: nobody.
    pub ipv6_gateway: [u8; 16],
    /// How many bits of the address are those of its network, 0 to 128. Here, 0 is no default.
    pub ipv6_prefix_len: u8,
    /// If this is not 0, the network is asked for an IPv4 address and a gateway by DHCP (RFC 2131). Default: it is not.
    pub dhcp: u8,
    /// If this is not 0, an IPv6 address is made from what a router advertises, which is then a gateway (RFC 4862). Default: none.
    pub slaac: u8,
    /// The VLAN of the stack, 1 to 4094. Default: frames have no tag.
    pub vlan: u16,
    /// The maximum length of an IP packet, 576 to 9000 bytes, with IPv6 at least 1280. Default: 1500.
    pub mtu: u16,
    /// The maximum number of connections, those in TIME-WAIT excluded. Default: 100000.
    pub connections: u32,
    /// The maximum number of connections that one address has opened to the stack. Default: no limit but connections.
    pub connections_per_peer: u32,
    /// For each listener, the maximum number of connections whose handshake is not complete. SYNs beyond are answered by
    /// cookies. Default: 1024.
    pub backlog: u32,
    /// The receive buffer of a connection, at most 65535 bytes. Default: 65535.
    pub receive_buffer: u32,
    /// The send buffer of a connection, at most 65535 bytes. Default: 65535.
    pub send_buffer: u32,
    /// Each of these buffers begins with at most so many bytes, and gets its size when it is needed. Default: 4096.
    pub initial_buffer: u32,
    /// If this is not 0, the peer's window alone limits what is sent at once. Default: CUBIC (RFC 9438) limits it too.
    pub no_congestion_control: u8,
    /// A handshake that is not complete after this time fails, in milliseconds. Default: 20000.
    pub handshake_timeout_ms: u32,
    /// A connection ends if the peer was not heard for so long although it had to answer, in milliseconds. Default: 120000.
    pub user_timeout_ms: u32,
    /// What the peer does not acknowledge is sent again after this time at the earliest, in milliseconds, unless later segments
    /// arrive. Default: 200; RFC 6298 wants 1000.
    pub min_retransmission_timeout_ms: u32,
    /// A peer that was silent for so long is asked for a sign, in milliseconds, and given up after user_timeout_ms. Default: never.
    pub keep_alive_ms: u32,
    /// A connection on which no data came or went for so long is reset, in milliseconds. Default: never.
    pub idle_timeout_ms: u32,
    /// The time in TIME-WAIT in milliseconds. Default: 60000.
    pub time_wait_ms: u32,
    /// The maximum number of connections in TIME-WAIT. The oldest are forgotten first. Default: 65536.
    pub time_waits: u32,
}

impl Config {
    /// For a port with this MAC address.
    pub(crate) fn complete(&self, mac: MacAddr) -> Result<dpdk_sockets::Config, Error> {
        let versions: [(IpAddr, u8, IpAddr); 2] = [
            (Ipv4Addr::from(self.ipv4).into(), self.ipv4_prefix_len, Ipv4Addr::from(self.ipv4_gateway).into()),
            (Ipv6Addr::from(self.ipv6).into(), self.ipv6_prefix_len, Ipv6Addr::from(self.ipv6_gateway).into()),
        ];
        let (mut addresses, mut routes) = (Vec::new(), Vec::new());
        for (address, prefix_len, gateway) in versions {
            if !address.is_unspecified() {
                addresses.push(IpNet::new(address, prefix_len).map_err(|_| Error::PrefixLength)?);
            }
            if !gateway.is_unspecified() {
                routes.push(Route::default_via(gateway));
            }
        }
        let mut config = dpdk_sockets::Config::automatic(mac);
        (config.dhcp, config.slaac) = (self.dhcp != 0, self.slaac != 0);
        if addresses.is_empty() && !config.dhcp && !config.slaac {
            return Err(Error::Address);
        }
        (config.addresses, config.routes) = (addresses, routes);
        if self.no_congestion_control != 0 {
            config.congestion_control = None;
        }
        config.vlan = Some(self.vlan).filter(|vlan| *vlan != 0);
        config.connections_per_peer = usize::try_from(self.connections_per_peer).ok().filter(|most| *most != 0);
        let time = |ms: u32| (ms != 0).then_some(Duration::from_millis(ms.into()));
        (config.keep_alive, config.idle_timeout) = (time(self.keep_alive_ms), time(self.idle_timeout_ms));
        let limits = [
            (u32::from(self.mtu), &mut config.mtu),
            (self.connections, &mut config.connections),
            (self.backlog, &mut config.backlog),
            (self.receive_buffer, &mut config.receive_buffer),
            (self.send_buffer, &mut config.send_buffer),
            (self.initial_buffer, &mut config.initial_buffer),
            (self.time_waits, &mut config.time_waits),
        ];
        for (given, limit) in limits.into_iter().filter(|(given, _)| *given != 0) {
            *limit = usize::try_from(given).unwrap_or(usize::MAX);
        }
        let times = [
            (self.handshake_timeout_ms, &mut config.handshake_timeout),
            (self.user_timeout_ms, &mut config.user_timeout),
            (self.min_retransmission_timeout_ms, &mut config.min_retransmission_timeout),
            (self.time_wait_ms, &mut config.time_wait),
        ];
        for (given, limit) in times {
            *limit = time(given).unwrap_or(*limit);
        }
        Ok(config)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const ZERO: Config = Config {
        ipv4: [192, 0, 2, 1],
        ipv4_gateway: [0; 4],
        ipv4_prefix_len: 24,
        ipv6: [0; 16],
        ipv6_gateway: [0; 16],
        ipv6_prefix_len: 0,
        dhcp: 0,
        slaac: 0,
        vlan: 0,
        mtu: 0,
        connections: 0,
        connections_per_peer: 0,
        backlog: 0,
        receive_buffer: 0,
        send_buffer: 0,
        initial_buffer: 0,
        no_congestion_control: 0,
        handshake_timeout_ms: 0,
        user_timeout_ms: 0,
        min_retransmission_timeout_ms: 0,
        keep_alive_ms: 0,
        idle_timeout_ms: 0,
        time_wait_ms: 0,
        time_waits: 0,
    };

    #[test]
    fn zero_is_the_default() {
        let mac = MacAddr([2, 0, 0, 0, 0, 1]);
        let default = dpdk_sockets::Config::new(mac, "192.0.2.1/24".parse().unwrap());
        assert_eq!(format!("{:?}", ZERO.complete(mac).unwrap()), format!("{default:?}"));
    }

    #[test]
    fn each_field_is_used() {
        let config = Config {
            ipv4_gateway: [192, 0, 2, 9],
            ipv6: Ipv6Addr::from_bits(1 << 125 | 1).octets(),
            ipv6_gateway: Ipv6Addr::from_bits(1 << 125 | 9).octets(),
            ipv6_prefix_len: 64,
            mtu: 600,
            connections: 1,
            backlog: 2,
            receive_buffer: 3,
            send_buffer: 4,
            initial_buffer: 13,
            no_congestion_control: 1,
            handshake_timeout_ms: 5,
            user_timeout_ms: 6,
            min_retransmission_timeout_ms: 14,
            time_wait_ms: 7,
            time_waits: 8,
            vlan: 9,
            connections_per_peer: 10,
            keep_alive_ms: 11,
            idle_timeout_ms: 12,
            dhcp: 1,
            slaac: 1,
            ..ZERO
        }
        .complete(MacAddr([2, 0, 0, 0, 0, 1]))
        .unwrap();
        assert_eq!(config.addresses, ["192.0.2.1/24".parse().unwrap(), "2000::1/64".parse().unwrap()]);
        assert!(config.dhcp && config.slaac);
        let gateways = ["192.0.2.9", "2000::9"].map(|gateway| Route::default_via(gateway.parse().unwrap()));
        assert_eq!(config.routes, gateways);
        assert_eq!((config.mtu, config.connections, config.backlog, config.time_waits), (600, 1, 2, 8));
        assert_eq!((config.receive_buffer, config.send_buffer, config.congestion_control), (3, 4, None));
        assert_eq!(config.initial_buffer, 13);
        let times =
            [config.handshake_timeout, config.user_timeout, config.time_wait, config.min_retransmission_timeout];
        assert_eq!(times, [5, 6, 7, 14].map(Duration::from_millis));
        assert_eq!((config.vlan, config.connections_per_peer), (Some(9), Some(10)));
        let times = [config.keep_alive, config.idle_timeout];
        assert_eq!(times, [11, 12].map(|ms| Some(Duration::from_millis(ms))));
    }

    #[test]
    fn addresses_are_checked() {
        let mac = MacAddr([2, 0, 0, 0, 0, 1]);
        let none = Config { ipv4: [0; 4], ..ZERO };
        assert_eq!(none.complete(mac).err(), Some(Error::Address));
        let ipv6 = [1; 16];
        for (config, error) in [
            (Config { ipv4_prefix_len: 33, ..ZERO }, Some(Error::PrefixLength)),
            (Config { ipv6, ipv6_prefix_len: 129, ..ZERO }, Some(Error::PrefixLength)),
            (Config { ipv6, ipv6_prefix_len: 128, ..none }, None),
            (Config { dhcp: 1, ..none }, None),
            (Config { slaac: 1, ..none }, None),
        ] {
            assert_eq!(config.complete(mac).err(), error);
        }
    }
}
