// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! IPv6 routes: the longest prefix that matches an address.

use super::{LpmBuilder, LpmError, lpm::MOST_RULES};
use crate::{
    CreateError, Eal,
    object::{Handle, Kind},
};
use core::{fmt, net::Ipv6Addr, ptr::NonNull};
use dpdk_sys as sys;
use std::sync::Arc;

/// DPDK puts `HT_LRH_` before the name of a ring, which has at most 28 bytes.
const LPM6: Kind = Kind { name: "LPM6 table", call: "rte_lpm6_create", longest_name: 21 };

/// The length of an address in bits.
const BITS: u8 = 128;

/// A next hop has 21 bits. DPDK silently truncates a longer one.
const LAST_NEXT_HOP: u32 = (1 << 21) - 1;

/// The number of addresses of one `rte_lpm6_lookup_bulk_func` call.
const BULK: usize = 64;

/// IPv6 routes. Each maps a prefix of 1 to 128 bits to a next hop, a number of 21 bits, such as a port or an index into
/// a table of the program.
///
/// A look-up reads memory once for the first 24 bits, and once for each further 8 bits that prefixes need. The table
/// takes 64 MiB, and 1 KiB for each group of longer prefixes ([`LpmBuilder::tbl8s`]).
#[doc(alias = "rte_lpm6")]
pub struct Lpm6 {
    table: Handle<sys::rte_lpm6>,
}

impl Lpm6 {
    /// Starts the description of a table. `name` has at most 18 bytes and is unique among the LPM6 tables of the
    /// process.
    pub fn builder(name: impl Into<String>) -> LpmBuilder<Self> {
        LpmBuilder::new(name.into(), 4096)
    }

    /// Adds a route, or changes the next hop of an existing one. `depth` is the length of the prefix in bits; the bits
    /// of `prefix` after it are ignored.
    ///
    /// # Errors
    /// [`LpmError::Depth`], [`LpmError::NextHop`], or [`LpmError::Call`] if the table is full.
    #[doc(alias = "rte_lpm6_add")]
    pub fn add(&mut self, prefix: Ipv6Addr, depth: u8, next_hop: u32) -> Result<(), LpmError> {
        LpmError::check_depth(depth, BITS)?;
        LpmError::check_next_hop(next_hop, LAST_NEXT_HOP)?;
        let address = prefix.octets();
        // SAFETY: the table lives as long as its handle and is borrowed exclusively. The address has 16 bytes.
        let result = unsafe { sys::dpdk_sys_lpm6_add(self.table.as_ptr(), address.as_ptr().cast(), depth, next_hop) };
        LpmError::check_call("rte_lpm6_add", result)
    }

    /// Removes a route.
    ///
    /// # Errors
    /// [`LpmError::Depth`], or [`LpmError::Call`] if the route does not exist.
    #[doc(alias = "rte_lpm6_delete")]
    pub fn delete(&mut self, prefix: Ipv6Addr, depth: u8) -> Result<(), LpmError> {
        LpmError::check_depth(depth, BITS)?;
        let address = prefix.octets();
        // SAFETY: the table lives as long as its handle and is borrowed exclusively. The address has 16 bytes.
        let result = unsafe { sys::dpdk_sys_lpm6_delete(self.table.as_ptr(), address.as_ptr().cast(), depth) };
        LpmError::check_call("rte_lpm6_delete", result)
    }

    /// Removes all routes.
    #[doc(alias = "rte_lpm6_delete_all")]
    pub fn clear(&mut self) {
        // SAFETY: the table lives as long as its handle and is borrowed exclusively.
        unsafe { sys::rte_lpm6_delete_all(self.table.as_ptr()) };
    }

    /// The next hop of the route for exactly this prefix; `None` if there is no such route.
    #[doc(alias = "rte_lpm6_is_rule_present")]
    #[must_use]
    pub fn rule(&self, prefix: Ipv6Addr, depth: u8) -> Option<u32> {
        LpmError::check_depth(depth, BITS).ok()?;
        let (address, mut next_hop) = (prefix.octets(), 0);
        // SAFETY: the table lives as long as its handle and is only read. Whoever changes it borrows it exclusively.
        // The address has 16 bytes.
        let found = unsafe {
            sys::dpdk_sys_lpm6_is_rule_present(self.table.as_ptr(), address.as_ptr().cast(), depth, &raw mut next_hop)
        };
        (found == 1).then_some(next_hop)
    }

    /// The next hop of the longest prefix that matches.
    #[doc(alias = "rte_lpm6_lookup")]
    #[must_use]
    pub fn lookup(&self, address: Ipv6Addr) -> Option<u32> {
        let (address, mut next_hop) = (address.octets(), 0);
        // SAFETY: the table lives as long as its handle and is only read. Whoever changes it borrows it exclusively.
        // The address has 16 bytes.
        let result =
            unsafe { sys::dpdk_sys_lpm6_lookup(self.table.as_ptr(), address.as_ptr().cast(), &raw mut next_hop) };
        (result == 0).then_some(next_hop)
    }

    /// Looks up all `addresses`. Writes the next hop of `addresses[i]`, or `None`, to `next_hops[i]`. If the slices
    /// differ in length, the rest of the longer one is ignored.
    ///
    /// Returns how many addresses have a next hop.
    #[doc(alias = "rte_lpm6_lookup_bulk_func")]
    pub fn lookup_bulk(&self, addresses: &[Ipv6Addr], next_hops: &mut [Option<u32>]) -> usize {
        let mut hits = 0;
        for (addresses, next_hops) in addresses.chunks(BULK).zip(next_hops.chunks_mut(BULK)) {
            let count = addresses.len().min(next_hops.len());
            let (mut bytes, mut entries) = ([[0; 16]; BULK], [-1_i32; BULK]);
            for (bytes, address) in bytes.iter_mut().zip(addresses) {
                *bytes = address.octets();
            }
            // SAFETY: the table lives as long as its handle and is only read. Whoever changes it borrows it
            // exclusively. Both arrays have room for `count` elements.
            unsafe {
                sys::dpdk_sys_lpm6_lookup_bulk(
                    self.table.as_ptr(),
                    bytes.as_ptr().cast(),
                    entries.as_mut_ptr(),
                    count as u32,
                )
            };
            for (next_hop, entry) in next_hops.iter_mut().zip(entries).take(count) {
                // A negative entry means that no prefix matches.
                *next_hop = u32::try_from(entry).ok();
                hits += usize::from(next_hop.is_some());
            }
        }
        hits
    }
}

impl fmt::Debug for Lpm6 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lpm6").finish_non_exhaustive()
    }
}

impl LpmBuilder<Lpm6> {
    /// Creates the table.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, too little memory, no rules, or a child process created by `fork`.
    #[doc(alias = "rte_lpm6_create")]
    pub fn build(self, eal: &Eal) -> Result<Lpm6, CreateError> {
        if self.rules > MOST_RULES {
            return Err(LPM6.too_large(&self.name, self.rules as usize, size_of::<Ipv6Addr>()));
        }
        let config = sys::rte_lpm6_config { max_rules: self.rules, number_tbl8s: self.tbl8s, flags: 0 };
        let environment = eal.environment();
        let table = LPM6.create(environment, &self.name, |name| {
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked. The
            // call copies its arguments.
            unsafe { sys::rte_lpm6_create(name, self.socket.get(), &raw const config) }
        })?;
        // SAFETY: the table is new, so nobody else frees it. Any thread may call `free`, since DPDK locks its list of
        // tables.
        let table = unsafe { Handle::new(table, free, Arc::clone(environment)) };
        Ok(Lpm6 { table })
    }
}

/// # Safety
/// The table is live, nobody uses it any more, and nobody else frees it.
unsafe fn free(table: NonNull<sys::rte_lpm6>) {
    // SAFETY: the caller promises a live table that nobody uses.
    unsafe { sys::rte_lpm6_free(table.as_ptr()) };
}
