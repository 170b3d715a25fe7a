// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Who has which addresses in a race.

use core::net::Ipv4Addr;
use smoltcp::wire::EthernetAddress;

/// The server's address.
pub const SERVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
/// The bits of it that are those of the network, which has all clients too.
pub const PREFIX_LEN: u8 = 8;
/// The server's port.
pub const PORT: u16 = 80;
/// The server's port for streams: it sends [`CHUNK`](crate::CHUNK) bytes for each byte that it gets there.
pub const STREAM_PORT: u16 = 81;
/// Where a proxy finds its back end, which is the client's.
pub const BACK_END: (Ipv4Addr, u16) = (Ipv4Addr::new(10, 255, 0, 1), 8080);
/// The server's MAC address, that of the first port on a virtual wire.
pub const SERVER_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 2, 0]);
/// The MAC address of all clients.
pub const CLIENT_MAC: EthernetAddress = EthernetAddress([2, 0, 0, 0, 0, 2]);
/// A client host has as many connections.
const PORTS: u32 = 50_000;
const FIRST_PORT: u16 = 1_024;
/// The first client host.
const FIRST_HOST: u32 = Ipv4Addr::new(10, 1, 0, 2).to_bits();

/// The address of the first client host.
#[must_use]
pub const fn first_client() -> Ipv4Addr {
    client(0).0
}

/// Address and port of a connection's client.
pub(crate) const fn client(number: u32) -> (Ipv4Addr, u16) {
    (Ipv4Addr::from_bits(FIRST_HOST + number / PORTS), FIRST_PORT + (number % PORTS) as u16)
}

/// Whether it is the address of a client host, or of the back end.
pub(crate) fn is_ours(address: Ipv4Addr) -> bool {
    address == BACK_END.0 || number(address, FIRST_PORT).is_some()
}

/// The connection with these, if there are so many.
pub(crate) fn number(address: Ipv4Addr, port: u16) -> Option<u32> {
    let port = port.checked_sub(FIRST_PORT).map(u32::from).filter(|port| *port < PORTS)?;
    address.to_bits().checked_sub(FIRST_HOST)?.checked_mul(PORTS)?.checked_add(port)
}

#[cfg(test)]
mod tests {
    use super::{client, is_ours, number};

    #[test]
    fn each_connection_has_its_own() {
        for one in [0, 1, 49_999, 50_000, 99_999] {
            let (address, port) = client(one);
            assert_eq!(number(address, port), Some(one));
            assert!(is_ours(address));
        }
        assert_eq!(number(client(0).0, 80), None);
        assert!(!is_ours(super::SERVER));
    }
}
