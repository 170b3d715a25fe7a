// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Routes of IPv6 in a forwarding table: as [`Lpm6`](crate::lookup::Lpm6), with a default route and longer next hops.

use super::{
    BULK, FibBuilder, FibError,
    routes::{Routes, Table},
};
use crate::{CreateError, Eal, object::Kind};
use core::{fmt, net::Ipv6Addr, ptr::NonNull};
use dpdk_sys as sys;

/// `RTE_MEMPOOL_NAMESIZE` less the NUL byte and `MP_`: a pool of nodes has a name that is longer by these.
const FIB6: Kind = Kind { name: "FIB of IPv6", call: "rte_fib6_create", longest_name: 22 };

/// Routes of IPv6, each from a prefix of 0 to 128 bits to a next hop: a number, of up to 63 bits.
///
/// A look-up in bulk is one read of memory for the first 24 bits, and one for each 8 behind them that prefixes need; with
/// `--force-max-simd-bitwidth=512` DPDK does several at a time where the processor has AVX-512. The table takes 16 MiB times the
/// bytes of an entry, which are 4 unless [`FibBuilder::last_next_hop`] asks for others, and 256 entries for each group of longer
/// prefixes ([`FibBuilder::tbl8s`]).
///
/// A table of which routes are changed is borrowed exclusively: DPDK changes entries that a reader could see half written.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
/// use dpdk_rs::lookup::Fib6;
/// use std::net::Ipv6Addr;
///
/// let mut routes = Fib6::builder("routes").build(&eal)?;
/// routes.add(Ipv6Addr::UNSPECIFIED, 0, 1)?; // the default route
/// routes.add("2001:db8::".parse()?, 32, 2)?;
/// let mut next_hops = [None; 2];
/// routes.lookup_bulk(&["2001:db8::1".parse()?, Ipv6Addr::LOCALHOST], &mut next_hops);
/// assert_eq!(next_hops, [Some(2), Some(1)]);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "rte_fib6")]
pub struct Fib6 {
    routes: Routes<sys::rte_fib6>,
}

impl Fib6 {
    /// Starts to describe a table. The name is the process's own, of at most 22 bytes: two tables cannot share one, nor can this
    /// and a [`Fib`](super::Fib).
    pub fn builder(name: impl Into<String>) -> FibBuilder<Self> {
        FibBuilder::new(name.into(), 4096)
    }

    /// Adds a route, or gives one another next hop. Bits of `prefix` behind `depth` do not count; with a `depth` of 0 it is the
    /// default route.
    ///
    /// # Errors
    /// See [`FibError`]; nothing is changed then.
    #[doc(alias = "rte_fib6_add")]
    pub fn add(&mut self, prefix: Ipv6Addr, depth: u8, next_hop: u64) -> Result<(), FibError> {
        self.routes.add(prefix.to_bits(), depth, next_hop)
    }

    /// Removes a route.
    ///
    /// # Errors
    /// [`FibError::Depth`], or [`FibError::Missing`] if there is no such route.
    #[doc(alias = "rte_fib6_delete")]
    pub fn delete(&mut self, prefix: Ipv6Addr, depth: u8) -> Result<(), FibError> {
        self.routes.delete(prefix.to_bits(), depth)
    }

    /// The next hop of a route; `None` if there is no such route.
    #[doc(alias = "rte_rib6_lookup_exact")]
    #[must_use]
    pub fn rule(&self, prefix: Ipv6Addr, depth: u8) -> Option<u64> {
        self.routes.rule(prefix.to_bits(), depth)
    }

    /// How many routes there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.routes.len() as usize
    }

    /// Whether there is no route.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.routes.len() == 0
    }

    /// The next hop of the longest prefix that matches.
    #[must_use]
    pub fn lookup(&self, address: Ipv6Addr) -> Option<u64> {
        let (address, mut entry) = (address.octets(), self.routes.none());
        // SAFETY: the table is live as long as its handle, and only read; whoever changes it has it exclusively. The address has
        // 16 bytes, and there is room for one next hop.
        unsafe { sys::dpdk_sys_fib6_lookup_bulk(self.routes.as_ptr(), address.as_ptr().cast(), &raw mut entry, 1) };
        self.routes.known(entry)
    }

    /// Looks up all `addresses`; the next hop of each is put in its place in `next_hops`, as far as both are long.
    ///
    /// Returns how many have one.
    #[doc(alias = "rte_fib6_lookup_bulk")]
    pub fn lookup_bulk(&self, addresses: &[Ipv6Addr], next_hops: &mut [Option<u64>]) -> usize {
        let mut hits = 0;
        for (addresses, next_hops) in addresses.chunks(BULK).zip(next_hops.chunks_mut(BULK)) {
            let count = addresses.len().min(next_hops.len());
            let (mut bytes, mut entries) = ([[0; 16]; BULK], [0_u64; BULK]);
            for (bytes, address) in bytes.iter_mut().zip(addresses) {
                *bytes = address.octets();
            }
            let (table, bytes) = (self.routes.as_ptr(), bytes.as_ptr().cast());
            // SAFETY: the table is live as long as its handle, and only read; whoever changes it has it exclusively. Both
            // arrays have room for `count`.
            unsafe { sys::dpdk_sys_fib6_lookup_bulk(table, bytes, entries.as_mut_ptr(), count as i32) };
            for (next_hop, entry) in next_hops.iter_mut().zip(entries).take(count) {
                *next_hop = self.routes.known(entry);
                hits += usize::from(next_hop.is_some());
            }
        }
        hits
    }
}

impl fmt::Debug for Fib6 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fib6").field("routes", &self.routes.len()).finish_non_exhaustive()
    }
}

impl FibBuilder<Fib6> {
    /// Makes the table.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, no memory, no routes, more routes, groups or bits of next hops than there can be.
    #[doc(alias = "rte_fib6_create")]
    pub fn build(self, eal: &Eal) -> Result<Fib6, CreateError> {
        Ok(Fib6 { routes: self.make(&FIB6, eal, sys::dpdk_sys_fib6_create)? })
    }
}

impl Table for sys::rte_fib6 {
    const BITS: u8 = 128;
    const SHORTEST_ENTRY_LOG2: u32 = 1;
    const WRAPS: bool = false;
    const ADD: &'static str = "rte_fib6_add";
    const DELETE: &'static str = "rte_fib6_delete";

    /// # Safety
    /// The table is live, and nobody else uses it.
    unsafe fn add(table: *mut Self, prefix: u128, depth: u8, next_hop: u64, _is_new: bool) -> i32 {
        let address = prefix.to_be_bytes();
        // SAFETY: the caller promises a table that is live and nobody else uses; the address has 16 bytes.
        unsafe { sys::dpdk_sys_fib6_add(table, address.as_ptr().cast(), depth, next_hop) }
    }

    /// # Safety
    /// The table is live, and nobody else uses it.
    unsafe fn delete(table: *mut Self, prefix: u128, depth: u8) -> i32 {
        let address = prefix.to_be_bytes();
        // SAFETY: the caller promises a table that is live and nobody else uses; the address has 16 bytes.
        unsafe { sys::dpdk_sys_fib6_delete(table, address.as_ptr().cast(), depth) }
    }

    /// # Safety
    /// The table is live, and nobody changes it meanwhile.
    unsafe fn rule(table: *mut Self, prefix: u128, depth: u8) -> Option<u64> {
        let (address, mut next_hop) = (prefix.to_be_bytes(), 0);
        // SAFETY: the caller promises a table that is live and only read; the address has 16 bytes.
        let found = unsafe { sys::dpdk_sys_fib6_rule(table, address.as_ptr().cast(), depth, &raw mut next_hop) };
        (found != 0).then_some(next_hop)
    }

    /// # Safety
    /// The table is live, nobody uses it any more, and nobody else frees it.
    unsafe fn free(table: NonNull<Self>) {
        // SAFETY: the caller promises a live table that nobody uses.
        unsafe { sys::rte_fib6_free(table.as_ptr()) };
    }
}
