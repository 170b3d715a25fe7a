// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! IPv6 routes in a forwarding table: like [`Lpm6`](crate::lookup::Lpm6), with a default route and longer next hops.

use super::{
    error::FibError,
    routes::{BULK, Routes, Table},
};
use core::{fmt, net::Ipv6Addr, ptr::NonNull};
use dpdk_sys as sys;

/// IPv6 routes. Each maps a prefix of 0 to 128 bits to a next hop, a number of up to 63 bits.
///
/// A bulk look-up reads memory once for the first 24 bits, and once for each further 8 bits that prefixes need. With
/// `--force-max-simd-bitwidth=512` DPDK looks up several addresses at a time on processors with AVX-512. The table
/// takes 16 MiB times the size of an entry in bytes, which is 4 unless
/// [`FibBuilder::last_next_hop`](super::FibBuilder::last_next_hop) changes it, and
/// 256 entries for each group of longer prefixes ([`FibBuilder::tbl8s`](super::FibBuilder::tbl8s)).
///
/// Changing a route borrows the table exclusively, since a reader could otherwise see an entry that DPDK has half
/// written.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
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
    pub(super) routes: Routes<sys::rte_fib6>,
}

impl Fib6 {
    /// Adds a route, or changes the next hop of an existing one. `depth` is the length of the prefix in bits; the bits
    /// of `prefix` after it are ignored. A `depth` of 0 is the default route.
    ///
    /// # Errors
    /// See [`FibError`]. Nothing is changed then.
    #[doc(alias = "rte_fib6_add")]
    pub fn add(&mut self, prefix: Ipv6Addr, depth: u8, next_hop: u64) -> Result<(), FibError> {
        self.routes.add(prefix.to_bits(), depth, next_hop)
    }

    /// Removes a route.
    ///
    /// # Errors
    /// [`FibError::Depth`], or [`FibError::Missing`] if the route does not exist.
    #[doc(alias = "rte_fib6_delete")]
    pub fn delete(&mut self, prefix: Ipv6Addr, depth: u8) -> Result<(), FibError> {
        self.routes.delete(prefix.to_bits(), depth)
    }

    /// The next hop of the route for exactly this prefix; `None` if there is no such route.
    #[doc(alias = "rte_rib6_lookup_exact")]
    #[must_use]
    pub fn rule(&self, prefix: Ipv6Addr, depth: u8) -> Option<u64> {
        self.routes.rule(prefix.to_bits(), depth)
    }

    /// The number of routes.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.routes.len() as usize
    }

    /// Whether there are no routes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.routes.len() == 0
    }

    /// The next hop of the longest prefix that matches.
    #[must_use]
    pub fn lookup(&self, address: Ipv6Addr) -> Option<u64> {
        let (address, mut entry) = (address.octets(), self.routes.none());
        // SAFETY: the table lives as long as its handle and is only read. Whoever changes it borrows it exclusively.
        // The address has 16 bytes, and there is room for one next hop.
        unsafe { sys::dpdk_sys_fib6_lookup_bulk(self.routes.as_ptr(), address.as_ptr().cast(), &raw mut entry, 1) };
        self.routes.known(entry)
    }

    /// Looks up all `addresses`. Writes the next hop of `addresses[i]` to `next_hops[i]`. If the slices differ in
    /// length, the rest of the longer one is ignored.
    ///
    /// Returns how many addresses have a next hop.
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
            // SAFETY: the table lives as long as its handle and is only read. Whoever changes it borrows it
            // exclusively. Both arrays have room for `count` elements.
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
