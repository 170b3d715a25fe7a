// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Routes of IPv6: the longest prefix that matches an address.

use super::{LpmBuilder, LpmError, lpm::MOST_RULES};
use crate::{
    CreateError, Eal,
    object::{Handle, Kind},
};
use core::{fmt, net::Ipv6Addr, ptr::NonNull};
use dpdk_sys as sys;
use std::sync::Arc;

/// DPDK puts `HT_LRH_` before the name of a ring, of 28 bytes.
const LPM6: Kind = Kind { name: "LPM6 table", call: "rte_lpm6_create", longest_name: 21 };

/// The bits of an address.
const BITS: u8 = 128;

/// A next hop has 21 bits: DPDK cuts what is longer.
const LAST_NEXT_HOP: u32 = (1 << 21) - 1;

/// Addresses of one call of `rte_lpm6_lookup_bulk_func`.
const BULK: usize = 64;

/// Routes of IPv6, each from a prefix of 1 to 128 bits to a next hop: a number of 21 bits, such as of a port or of an entry
/// in a table of the program's own.
///
/// A look-up is one read of memory for the first 24 bits, and one for each 8 behind them that prefixes need. The table takes
/// 64 MiB, and 1 KiB for each group of longer prefixes ([`LpmBuilder::tbl8s`]).
#[doc(alias = "rte_lpm6")]
pub struct Lpm6 {
    table: Handle<sys::rte_lpm6>,
}

impl Lpm6 {
    /// Starts to describe a table. The name is the process's own, of at most 21 bytes: two tables cannot share one.
    pub fn builder(name: impl Into<String>) -> LpmBuilder<Self> {
        LpmBuilder::new(name.into(), 4096)
    }

    /// Adds a route, or gives one another next hop. Bits of `prefix` behind `depth` do not count.
    ///
    /// # Errors
    /// [`LpmError::Depth`], [`LpmError::NextHop`], or [`LpmError::Call`] if the table is full.
    #[doc(alias = "rte_lpm6_add")]
    pub fn add(&mut self, prefix: Ipv6Addr, depth: u8, next_hop: u32) -> Result<(), LpmError> {
        LpmError::check_depth(depth, BITS)?;
        LpmError::check_next_hop(next_hop, LAST_NEXT_HOP)?;
        let address = prefix.octets();
        // SAFETY: the table is live as long as its handle, and borrowed exclusively; the address has 16 bytes.
        let result = unsafe { sys::dpdk_sys_lpm6_add(self.table.as_ptr(), address.as_ptr().cast(), depth, next_hop) };
        LpmError::check_call("rte_lpm6_add", result)
    }

    /// Removes a route.
    ///
    /// # Errors
    /// [`LpmError::Depth`], or [`LpmError::Call`] if there is no such route.
    #[doc(alias = "rte_lpm6_delete")]
    pub fn delete(&mut self, prefix: Ipv6Addr, depth: u8) -> Result<(), LpmError> {
        LpmError::check_depth(depth, BITS)?;
        let address = prefix.octets();
        // SAFETY: the table is live as long as its handle, and borrowed exclusively; the address has 16 bytes.
        let result = unsafe { sys::dpdk_sys_lpm6_delete(self.table.as_ptr(), address.as_ptr().cast(), depth) };
        LpmError::check_call("rte_lpm6_delete", result)
    }

    /// Removes all routes.
    #[doc(alias = "rte_lpm6_delete_all")]
    pub fn clear(&mut self) {
        // SAFETY: the table is live as long as its handle, and borrowed exclusively.
        unsafe { sys::rte_lpm6_delete_all(self.table.as_ptr()) };
    }

    /// The next hop of a route; `None` if there is no such route.
    #[doc(alias = "rte_lpm6_is_rule_present")]
    #[must_use]
    pub fn rule(&self, prefix: Ipv6Addr, depth: u8) -> Option<u32> {
        LpmError::check_depth(depth, BITS).ok()?;
        let (address, mut next_hop) = (prefix.octets(), 0);
        // SAFETY: the table is live as long as its handle, and only read; whoever changes it has it exclusively. The address
        // has 16 bytes.
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
        // SAFETY: the table is live as long as its handle, and only read; whoever changes it has it exclusively. The address
        // has 16 bytes.
        let result =
            unsafe { sys::dpdk_sys_lpm6_lookup(self.table.as_ptr(), address.as_ptr().cast(), &raw mut next_hop) };
        (result == 0).then_some(next_hop)
    }

    /// Looks up all `addresses`; the next hop of each is put in its place in `next_hops`, as far as both are long.
    ///
    /// Returns how many have one.
    #[doc(alias = "rte_lpm6_lookup_bulk_func")]
    pub fn lookup_bulk(&self, addresses: &[Ipv6Addr], next_hops: &mut [Option<u32>]) -> usize {
        let mut hits = 0;
        for (addresses, next_hops) in addresses.chunks(BULK).zip(next_hops.chunks_mut(BULK)) {
            let count = addresses.len().min(next_hops.len());
            let (mut bytes, mut entries) = ([[0; 16]; BULK], [-1_i32; BULK]);
            for (bytes, address) in bytes.iter_mut().zip(addresses) {
                *bytes = address.octets();
            }
            // SAFETY: the table is live as long as its handle, and only read; whoever changes it has it exclusively. Both
            // arrays have room for `count`.
            unsafe {
                sys::dpdk_sys_lpm6_lookup_bulk(
                    self.table.as_ptr(),
                    bytes.as_ptr().cast(),
                    entries.as_mut_ptr(),
                    count as u32,
                )
            };
            for (next_hop, entry) in next_hops.iter_mut().zip(entries).take(count) {
                // A negative one means that no prefix matches.
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
    /// Makes the table.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, no memory, no rules, a child made by `fork`.
    #[doc(alias = "rte_lpm6_create")]
    pub fn build(self, eal: &Eal) -> Result<Lpm6, CreateError> {
        if self.rules > MOST_RULES {
            return Err(LPM6.too_large(&self.name, self.rules as usize, size_of::<Ipv6Addr>()));
        }
        let config = sys::rte_lpm6_config { max_rules: self.rules, number_tbl8s: self.tbl8s, flags: 0 };
        let environment = eal.environment();
        let table = LPM6.create(environment, &self.name, |name| {
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call
            // copies what it is given.
            unsafe { sys::rte_lpm6_create(name, self.socket.get(), &raw const config) }
        })?;
        // SAFETY: the table is new, so nobody else frees it; `free` may be called on any thread, since DPDK locks its list.
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
