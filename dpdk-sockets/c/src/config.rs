// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a stack is and may use.

use core::net::Ipv4Addr;
use core::time::Duration;
use dpdk_rs::MacAddr;

/// The addresses, limits and times of a stack. The rest of an initialiser that names only the addresses is 0, and a 0 means the
/// default.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The stack's address: 192.0.2.1 is {192, 0, 2, 1}. It has no default.
    pub address: [u8; 4],
    /// Who forwards packets to other networks; 0.0.0.0 for nobody.
    pub gateway: [u8; 4],
    /// How many bits of the address are those of its network, 0 to 32. Here, 0 is no default.
    pub prefix_len: u8,
    /// The VLAN of the stack, 1 to 4094. Default: frames have no tag.
    pub vlan: u16,
    /// The maximum length of an IPv4 packet, 576 to 9000 bytes. Default: 1500.
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
    /// A handshake that is not complete after this time fails, in milliseconds. Default: 20000.
    pub handshake_timeout_ms: u32,
    /// A connection ends if the peer was not heard for so long although it had to answer, in milliseconds. Default: 120000.
    pub user_timeout_ms: u32,
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
    pub(crate) fn complete(&self, mac: MacAddr) -> dpdk_sockets::Config {
        let mut config = dpdk_sockets::Config::new(mac, self.address.into(), self.prefix_len);
        config.gateway = Some(Ipv4Addr::from(self.gateway)).filter(|gateway| !gateway.is_unspecified());
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
            (self.time_waits, &mut config.time_waits),
        ];
        for (given, limit) in limits.into_iter().filter(|(given, _)| *given != 0) {
            *limit = usize::try_from(given).unwrap_or(usize::MAX);
        }
        let times = [
            (self.handshake_timeout_ms, &mut config.handshake_timeout),
            (self.user_timeout_ms, &mut config.user_timeout),
            (self.time_wait_ms, &mut config.time_wait),
        ];
        for (given, limit) in times {
            *limit = time(given).unwrap_or(*limit);
        }
        config
    }
}

#[cfg(test)]
mod tests {
    use super::Config;
    use core::time::Duration;
    use dpdk_rs::MacAddr;

    const ZERO: Config = Config {
        address: [192, 0, 2, 1],
        gateway: [0; 4],
        prefix_len: 24,
        vlan: 0,
        mtu: 0,
        connections: 0,
        connections_per_peer: 0,
        backlog: 0,
        receive_buffer: 0,
        send_buffer: 0,
        handshake_timeout_ms: 0,
        user_timeout_ms: 0,
        keep_alive_ms: 0,
        idle_timeout_ms: 0,
        time_wait_ms: 0,
        time_waits: 0,
    };

    #[test]
    fn zero_is_the_default() {
        let mac = MacAddr([2, 0, 0, 0, 0, 1]);
        let default = dpdk_sockets::Config::new(mac, [192, 0, 2, 1].into(), 24);
        assert_eq!(format!("{:?}", ZERO.complete(mac)), format!("{default:?}"));
    }

    #[test]
    fn each_field_is_used() {
        let config = Config {
            gateway: [192, 0, 2, 9],
            mtu: 600,
            connections: 1,
            backlog: 2,
            receive_buffer: 3,
            send_buffer: 4,
            handshake_timeout_ms: 5,
            user_timeout_ms: 6,
            time_wait_ms: 7,
            time_waits: 8,
            vlan: 9,
            connections_per_peer: 10,
            keep_alive_ms: 11,
            idle_timeout_ms: 12,
            ..ZERO
        }
        .complete(MacAddr([2, 0, 0, 0, 0, 1]));
        assert_eq!(config.gateway, Some([192, 0, 2, 9].into()));
        assert_eq!((config.mtu, config.connections, config.backlog, config.time_waits), (600, 1, 2, 8));
        assert_eq!((config.receive_buffer, config.send_buffer), (3, 4));
        let times = [config.handshake_timeout, config.user_timeout, config.time_wait];
        assert_eq!(times, [5, 6, 7].map(Duration::from_millis));
        assert_eq!((config.vlan, config.connections_per_peer), (Some(9), Some(10)));
        let times = [config.keep_alive, config.idle_timeout];
        assert_eq!(times, [11, 12].map(|ms| Some(Duration::from_millis(ms))));
    }
}
