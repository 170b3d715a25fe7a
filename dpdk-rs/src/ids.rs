// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The numbers of ports, lcores and NUMA nodes, and the two directions of queues.

use core::fmt;
use dpdk_sys as sys;

/// The number of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PortId(pub(crate) u16);

impl PortId {
    /// The number.
    #[inline]
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for PortId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of an lcore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LcoreId(u32);

impl LcoreId {
    /// # Safety
    /// The number is below `RTE_MAX_LCORE`: DPDK's tables have that many entries, and DPDK does not compare.
    pub(crate) const unsafe fn new(id: u32) -> Self {
        Self(id)
    }

    /// The number, as in the EAL's option `-l`.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }
}

impl fmt::Display for LcoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A NUMA node, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SocketId(i32);

impl SocketId {
    /// Any node (`SOCKET_ID_ANY`).
    pub const ANY: Self = Self(sys::SOCKET_ID_ANY);

    /// Node 0, the only node of most machines.
    pub const FIRST: Self = Self(0);

    pub(crate) const fn new(id: i32) -> Self {
        Self(id)
    }

    /// The number; -1 for [`SocketId::ANY`].
    #[must_use]
    pub const fn get(self) -> i32 {
        self.0
    }
}

impl fmt::Display for SocketId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Whether a queue receives or sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Rx,
    Tx,
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Rx { "RX" } else { "TX" })
    }
}
