// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What C programs hold: numbers, which stand for nothing after they were closed, and addresses.

use core::net::{IpAddr, SocketAddr};
use dpdk_sockets::{ConnectionId, ListenerId, UdpId};
use slotmap::{Key, KeyData};

/// A stack: all sockets on one RX queue and one TX queue. Only the thread that has made it can use it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stack {
    /// Is not used again for another stack.
    pub id: u64,
}

/// The stacks of one port that no thread has taken yet.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Is not used again for another group.
    pub id: u64,
}

/// Declares a handle for a key of the stack.
macro_rules! handle {
    ($handle:ident, $key:ident) => {
        impl From<$key> for $handle {
            fn from(key: $key) -> Self {
                Self { id: key.data().as_ffi() }
            }
        }

        impl From<$handle> for $key {
            fn from(handle: $handle) -> Self {
                KeyData::from_ffi(handle.id).into()
            }
        }
    };
}

/// A TCP connection of one stack. After dpdk_sockets_close() it stands for nothing, also when other connections are made.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// Any number is safe to use: one that is wrong gives DPDK_SOCKETS_ERROR_NO_SUCH_CONNECTION.
    pub id: u64,
}

/// A TCP port of one stack that accepts connections.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listener {
    /// Any number is safe to use.
    pub id: u64,
}

/// A UDP port of one stack.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpSocket {
    /// Any number is safe to use: one that is wrong gives DPDK_SOCKETS_ERROR_NO_SUCH_SOCKET.
    pub id: u64,
}

handle!(Connection, ConnectionId);
handle!(Listener, ListenerId);
handle!(UdpSocket, UdpId);

/// An IP address and a port.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Address {
    /// As inet_pton() writes it: 192.0.2.1 is {192, 0, 2, 1}, and the rest does not matter.
    pub ip: [u8; 16],
    /// In the byte order of the host: 80 is HTTP.
    pub port: u16,
    /// 0 for IPv4; 1, or any other number, for IPv6.
    pub is_ipv6: u8,
}

impl From<Address> for SocketAddr {
    fn from(address: Address) -> Self {
        let [a, b, c, d, ..] = address.ip;
        let ip = if address.is_ipv6 == 0 { IpAddr::from([a, b, c, d]) } else { IpAddr::from(address.ip) };
        Self::new(ip, address.port)
    }
}

impl From<SocketAddr> for Address {
    fn from(address: SocketAddr) -> Self {
        let mut ip = [0; 16];
        match address.ip() {
            IpAddr::V4(address) => ip[..4].copy_from_slice(&address.octets()),
            IpAddr::V6(address) => ip = address.octets(),
        }
        Self { ip, port: address.port(), is_ipv6: address.is_ipv6().into() }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_those_of_rust() {
        for text in ["192.0.2.1:80", "[2001:db8::1]:65535"] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(SocketAddr::from(Address::from(address)), address);
        }
    }
}
