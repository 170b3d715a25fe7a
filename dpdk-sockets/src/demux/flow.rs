// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The two ends of a connection, and the table of all.

use ahash::RandomState;
use core::net::{Ipv4Addr, SocketAddrV4};
use std::collections::HashMap;

/// The two ends of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Flow {
    /// The local address and the remote one.
    addresses: u64,
    /// The local port and the remote one.
    ports: u32,
}

impl Flow {
    pub(crate) fn new(local: SocketAddrV4, remote: SocketAddrV4) -> Self {
        Self {
            addresses: u64::from(local.ip().to_bits()) << 32 | u64::from(remote.ip().to_bits()),
            ports: u32::from(local.port()) << 16 | u32::from(remote.port()),
        }
    }

    /// As the peer sees it.
    pub(crate) fn reversed(self) -> Self {
        Self::new(self.remote(), self.local())
    }

    pub(crate) const fn local(self) -> SocketAddrV4 {
        SocketAddrV4::new(Ipv4Addr::from_bits((self.addresses >> 32) as u32), (self.ports >> 16) as u16)
    }

    pub(crate) const fn remote(self) -> SocketAddrV4 {
        SocketAddrV4::new(Ipv4Addr::from_bits(self.addresses as u32), self.ports as u16)
    }
}

/// What belongs to each flow. The hash is keyed with random numbers, since the peers choose the flows.
pub(crate) type Flows<T> = HashMap<Flow, T, RandomState>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_kept() {
        let local = SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 1), 80);
        let remote = SocketAddrV4::new(Ipv4Addr::new(203, 0, 113, 255), 65_535);
        let flow = Flow::new(local, remote);
        assert_eq!((flow.local(), flow.remote()), (local, remote));
        assert_ne!(flow, Flow::new(remote, local));
    }
}
