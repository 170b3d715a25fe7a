// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The builders of forwarding tables.

use super::{
    routes::{Routes, Table},
    v4::Fib,
    v6::Fib6,
};
use crate::{CreateError, Eal, Errno, SocketId, object::Kind};
use core::{ffi::c_char, fmt, marker::PhantomData};
use dpdk_sys as sys;

/// `RTE_MEMPOOL_NAMESIZE` less the NUL byte and `MP_`, which DPDK puts before the name for a pool of nodes.
const FIB: Kind = Kind { name: "FIB", call: "rte_fib_create", longest_name: 22 };

/// `RTE_MEMPOOL_NAMESIZE` less the NUL byte and `MP_`, which DPDK puts before the name for a pool of nodes.
const FIB6: Kind = Kind { name: "FIB of IPv6", call: "rte_fib6_create", longest_name: 22 };

const MOST_ROUTES: u32 = 1 << 24;

/// DPDK computes the position of a group's entries in 32 bits.
const MOST_TBL8S: u32 = 1 << 20;

/// DPDK changes a route only if two groups are free, even if the change needs none: it takes groups for both ends of
/// the changed range, and returns them once all their entries are the same.
const SPARE_TBL8S: u32 = 2;

impl Fib {
    /// Starts the description of a table. `name` has at most 19 bytes and is unique among the FIBs of the process,
    /// including those of type [`Fib6`](super::Fib6).
    pub fn builder(name: impl Into<String>) -> FibBuilder {
        FibBuilder::new(name.into(), 256)
    }
}

impl Fib6 {
    /// Starts the description of a table. `name` has at most 19 bytes and is unique among the FIBs of the process,
    /// including those of type [`Fib`](super::Fib).
    pub fn builder(name: impl Into<String>) -> FibBuilder<Self> {
        FibBuilder::new(name.into(), 4096)
    }
}

/// The description of a [`Fib`] or a [`Fib6`], from [`Fib::builder`] or [`Fib6::builder`].
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

    /// The maximum number of routes, up to 2^24. Default: 1,024.
    pub const fn routes(mut self, routes: u32) -> Self {
        self.routes = routes;
        self
    }

    /// The number of groups of 256 entries for prefixes longer than 24 bits, at most 2^20.
    ///
    /// - IPv4: one group for each first 24 bits that such prefixes have. Default: 256.
    /// - IPv6: one group for each first 24 bits, and one for each further 8 bits, that such prefixes have and are
    ///   longer than. A prefix of 64 bits needs at most 5 groups, one of 128 bits at most 13. Default: 4,096.
    pub const fn tbl8s(mut self, groups: u32) -> Self {
        self.tbl8s = groups;
        self
    }

    /// The largest next hop, at most 2^63 - 2. Default: 2^31 - 2. It sets the size of an entry: 1 byte up to 126 (IPv4
    /// only) with at most 125 groups, 2 bytes up to 32,766 with at most 32,765 groups, 4 bytes up to 2^31 - 2,
    /// otherwise 8 bytes.
    pub const fn last_next_hop(mut self, next_hop: u64) -> Self {
        self.last_next_hop = next_hop;
        self
    }

    /// Builds a tree in place of a table (`RTE_FIB_DUMMY`, `RTE_FIB6_DUMMY`): a look-up takes longer and the tree
    /// little memory.
    pub const fn tree(mut self) -> Self {
        self.tree = true;
        self
    }

    /// The NUMA node for the table's memory. Default: any.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Calls `create` to create DPDK's table, with the name, the node, the number of routes, the next hop that means
    /// "no route", the size of an entry in bytes (as a power of two) and the number of groups.
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
        // The largest next hop that fits in an entry means "no route".
        let none = entry_size_log2.map_or(0, last_of);
        let tbl8s = if self.tree { 0 } else { self.tbl8s + SPARE_TBL8S };
        let table = kind.create(eal.environment(), &self.name, |name| {
            let Some(entry_size_log2) = entry_size_log2 else { return crate::object::refuse(sys::EINVAL) };
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked. The
            // call copies its arguments.
            let table = unsafe { create(name, self.socket.get(), self.routes, none, entry_size_log2, tbl8s) };
            // If memory is short, `rte_fib6_create` frees its tree of routes by a call that leaves `EINVAL`.
            if table.is_null() && self.routes != 0 && Errno::last().get() == sys::EINVAL.cast_signed() {
                return crate::object::refuse(sys::ENOMEM);
            }
            table
        })?;
        // SAFETY: the table is new, so nobody else frees it.
        Ok(unsafe { Routes::new(table, eal, none, self.routes, (!self.tree).then_some(self.tbl8s)) })
    }

    /// The shortest entry that holds the next hops, the number of a group, and the next hop that means "no route".
    fn entry_size_log2<R: Table>(&self) -> Option<u32> {
        let groups = if self.tree { 0 } else { u64::from(self.tbl8s.saturating_add(SPARE_TBL8S)) };
        (R::SHORTEST_ENTRY_LOG2..4).find(|size| self.last_next_hop < last_of(*size) && groups <= last_of(*size))
    }
}

impl FibBuilder<Fib> {
    /// Creates the table.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, too little memory, or a number of routes, groups or bits of next hops that
    /// is not allowed.
    #[doc(alias = "rte_fib_create")]
    pub fn build(self, eal: &Eal) -> Result<Fib, CreateError> {
        Ok(Fib { routes: self.make(&FIB, eal, sys::dpdk_sys_fib_create)? })
    }
}

impl FibBuilder<Fib6> {
    /// Creates the table.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, too little memory, or a number of routes, groups or bits of next hops that
    /// is not allowed.
    #[doc(alias = "rte_fib6_create")]
    pub fn build(self, eal: &Eal) -> Result<Fib6, CreateError> {
        Ok(Fib6 { routes: self.make(&FIB6, eal, sys::dpdk_sys_fib6_create)? })
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

/// The largest number in an entry. One bit of an entry marks the number of a group.
const fn last_of(entry_size_log2: u32) -> u64 {
    u64::MAX >> (65 - (8 << entry_size_log2))
}
