// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Routes in forwarding tables (FIBs): those of IPv4 and of IPv6 differ in their addresses, and in how DPDK keeps them.

mod routes;
mod v4;
mod v6;

pub use v4::Fib;
pub use v6::Fib6;

use crate::{CreateError, Eal, Errno, SocketId, object::Kind};
use core::{ffi::c_char, fmt, marker::PhantomData};
use dpdk_sys as sys;
use routes::{Routes, Table};

const MOST_ROUTES: u32 = 1 << 24;

/// DPDK works out places in a group's entries in 32 bits.
const MOST_TBL8S: u32 = 1 << 20;

/// DPDK changes a route only if two groups are free, even where it needs none: it takes groups for the ends of what it changes, and
/// gives them back once it sees that their entries are all the same.
const SPARE_TBL8S: u32 = 2;

/// Addresses of one call of `rte_fib_lookup_bulk` or `rte_fib6_lookup_bulk`.
const BULK: usize = 64;

/// Why a route was not added to or removed from a [`Fib`] or a [`Fib6`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FibError {
    /// A prefix has at most as many bits as an address.
    #[error("a prefix of {depth} bits: give from 0 to {longest}")]
    Depth {
        /// Bits asked for.
        depth: u8,
        /// The bits of an address.
        longest: u8,
    },
    /// The next hop needs more bits than an entry has.
    #[error("next hop {next_hop}: the last one is {last}; ask for more with FibBuilder::last_next_hop")]
    NextHop {
        /// The next hop asked for.
        next_hop: u64,
        /// The largest that fits.
        last: u64,
    },
    /// The table has as many routes as it was made for.
    #[error("the table has its {0} routes: ask for more with FibBuilder::routes")]
    Routes(u32),
    /// There are not as many groups left as the prefix, which is longer than 24 bits, needs.
    #[error(
        "the table has {0} groups for prefixes longer than 24 bits, and too few are left: ask for more with FibBuilder::tbl8s"
    )]
    Groups(u32),
    /// There is no route for the prefix.
    #[error("there is no such route")]
    Missing,
    /// The call of DPDK failed.
    #[error("{call}: {errno}")]
    Call {
        /// The call.
        call: &'static str,
        /// Why.
        errno: Errno,
    },
}

/// Describes a [`Fib`] or a [`Fib6`]; made by [`Fib::builder`] or [`Fib6::builder`].
#[must_use = "a table is made by `build`"]
pub struct FibBuilder<T = Fib> {
    name: String,
    routes: u32,
    tbl8s: u32,
    last_next_hop: u64,
    tree: bool,
    socket: SocketId,
    table: PhantomData<fn() -> T>,
}

impl<T> FibBuilder<T> {
    const fn new(name: String, tbl8s: u32) -> Self {
        let socket = SocketId::ANY;
        Self { name, routes: 1024, tbl8s, last_next_hop: (1 << 31) - 2, tree: false, socket, table: PhantomData }
    }

    /// How many routes fit in, at most 2^24; 1,024 unless set.
    pub const fn routes(mut self, routes: u32) -> Self {
        self.routes = routes;
        self
    }

    /// How many groups of 256 entries there can be for prefixes longer than 24 bits; at most 2^20. IPv4: one for each 24 bits that
    /// such prefixes begin with; 256 unless set. IPv6: one for each 24 bits, and for each 8 bits behind them, that such prefixes
    /// begin with and are longer than, so that one of 64 bits needs at most 5 and one of 128 bits 13; 4,096 unless set.
    pub const fn tbl8s(mut self, groups: u32) -> Self {
        self.tbl8s = groups;
        self
    }

    /// The largest next hop; 2^31 - 2 unless set, at most 2^63 - 2. Entries have 1 byte up to 126 (of IPv4), and 2 up to 32,766, if
    /// there are at most 125 or 32,765 groups; 4 up to 2^31 - 2, else 8.
    pub const fn last_next_hop(mut self, next_hop: u64) -> Self {
        self.last_next_hop = next_hop;
        self
    }

    /// Without a table: each look-up goes down a tree, which takes little memory and longer (`RTE_FIB_DUMMY`, `RTE_FIB6_DUMMY`).
    pub const fn tree(mut self) -> Self {
        self.tree = true;
        self
    }

    /// The NUMA node whose memory to use; any unless set.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Has `create` make DPDK's table: name, node, routes, what stands for none, bytes of an entry as a power of two, groups.
    fn make<R: Table>(
        self,
        kind: &Kind,
        eal: &Eal,
        create: unsafe extern "C" fn(*const c_char, i32, u32, u64, u32, u32) -> *mut R,
    ) -> Result<Routes<R>, CreateError> {
        let entry_size_log2 = self.entry_size_log2::<R>();
        if self.routes > MOST_ROUTES || self.tbl8s > MOST_TBL8S {
            let elements = self.routes.max(self.tbl8s) as usize;
            return Err(kind.too_large(&self.name, elements, 1 << entry_size_log2.unwrap_or(3)));
        }
        // The last next hop that an entry has bits for stands for none.
        let none = entry_size_log2.map_or(0, last_of);
        let tbl8s = if self.tree { 0 } else { self.tbl8s + SPARE_TBL8S };
        let table = kind.create(eal.environment(), &self.name, |name| {
            let Some(entry_size_log2) = entry_size_log2 else { return crate::object::refuse(sys::EINVAL) };
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call
            // copies what it is given.
            unsafe { create(name, self.socket.get(), self.routes, none, entry_size_log2, tbl8s) }
        })?;
        // SAFETY: the table is new, so nobody else frees it.
        Ok(unsafe { Routes::new(table, eal, none, self.routes, (!self.tree).then_some(self.tbl8s)) })
    }

    /// The shortest entry that has bits for the next hops, for the number of a group, and for one that stands for none.
    fn entry_size_log2<R: Table>(&self) -> Option<u32> {
        let groups = if self.tree { 0 } else { u64::from(self.tbl8s.saturating_add(SPARE_TBL8S)) };
        (R::SHORTEST_ENTRY_LOG2..4).find(|size| self.last_next_hop < last_of(*size) && groups <= last_of(*size))
    }
}

impl<T> Clone for FibBuilder<T> {
    fn clone(&self) -> Self {
        Self { name: self.name.clone(), ..*self }
    }
}

impl<T> fmt::Debug for FibBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FibBuilder").field("name", &self.name).field("routes", &self.routes).finish_non_exhaustive()
    }
}

/// The largest number in an entry, of which one bit says whether it is the number of a group.
const fn last_of(entry_size_log2: u32) -> u64 {
    u64::MAX >> (65 - (8 << entry_size_log2))
}
