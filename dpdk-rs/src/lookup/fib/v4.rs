// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! IPv4 routes in a forwarding table: like [`Lpm`](crate::lookup::Lpm), with a default route and longer next hops.

use super::{
    error::FibError,
    routes::{BULK, Routes, Table},
};
use core::{fmt, net::Ipv4Addr, ptr::NonNull};
use dpdk_sys as sys;

/// IPv4 routes. Each maps a prefix of 0 to 32 bits to a next hop, a number of up to 63 bits.
///
/// A bulk look-up reads memory once for most prefixes, and twice for those longer than 24 bits. With
/// `--force-max-simd-bitwidth=512` DPDK looks up 16 addresses at a time on processors with AVX-512. The table takes 16
/// MiB times the size of an entry in bytes, which is 4 unless
/// [`FibBuilder::last_next_hop`](super::FibBuilder::last_next_hop) changes it.
///
/// Changing a route borrows the table exclusively, since a reader could otherwise see an entry that DPDK has half
/// written.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// use dpdk_rs::lookup::Fib;
/// use std::net::Ipv4Addr;
///
/// let mut routes = Fib::builder("routes").build(&eal)?;
/// routes.add(Ipv4Addr::UNSPECIFIED, 0, 1)?; // the default route
/// routes.add(Ipv4Addr::new(10, 1, 0, 0), 16, 2)?;
/// let mut next_hops = [None; 2];
/// routes.lookup_bulk(&[Ipv4Addr::new(10, 1, 2, 3), Ipv4Addr::new(192, 168, 0, 1)], &mut next_hops);
/// assert_eq!(next_hops, [Some(2), Some(1)]);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "rte_fib")]
pub struct Fib {
    pub(super) routes: Routes<sys::rte_fib>,
}

impl Fib {
    /// Adds a route, or changes the next hop of an existing one. `depth` is the length of the prefix in bits; the bits
    /// of `prefix` after it are ignored. A `depth` of 0 is the default route.
    ///
    /// # Errors
    /// See [`FibError`]. Nothing is changed then.
    #[doc(alias = "rte_fib_add")]
    pub fn add(&mut self, prefix: Ipv4Addr, depth: u8, next_hop: u64) -> Result<(), FibError> {
        self.routes.add(first_bits(prefix), depth, next_hop)
    }

    /// Removes a route.
    ///
    /// # Errors
    /// [`FibError::Depth`], or [`FibError::Missing`] if the route does not exist.
    #[doc(alias = "rte_fib_delete")]
    pub fn delete(&mut self, prefix: Ipv4Addr, depth: u8) -> Result<(), FibError> {
        self.routes.delete(first_bits(prefix), depth)
    }

    /// The next hop of the route for exactly this prefix; `None` if there is no such route.
    #[doc(alias = "rte_rib_lookup_exact")]
    #[must_use]
    pub fn rule(&self, prefix: Ipv4Addr, depth: u8) -> Option<u64> {
        self.routes.rule(first_bits(prefix), depth)
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
    pub fn lookup(&self, address: Ipv4Addr) -> Option<u64> {
        // SAFETY: the table lives as long as its handle and is only read. Whoever changes it borrows it exclusively.
        self.routes.known(unsafe { entry(self.routes.as_ptr(), address.to_bits()) })
    }

    /// Looks up all `addresses`. Writes the next hop of `addresses[i]` to `next_hops[i]`. If the slices differ in
    /// length, the rest of the longer one is ignored.
    ///
    /// Returns how many addresses have a next hop.
    #[doc(alias = "rte_fib_lookup_bulk")]
    pub fn lookup_bulk(&self, addresses: &[Ipv4Addr], next_hops: &mut [Option<u64>]) -> usize {
        let mut hits = 0;
        for (addresses, next_hops) in addresses.chunks(BULK).zip(next_hops.chunks_mut(BULK)) {
            let count = addresses.len().min(next_hops.len());
            let (mut bits, mut entries) = ([0; BULK], [0_u64; BULK]);
            for (bits, address) in bits.iter_mut().zip(addresses) {
                *bits = address.to_bits();
            }
            // SAFETY: the table lives as long as its handle and is only read. Whoever changes it borrows it
            // exclusively. Both arrays have room for `count` elements.
            unsafe {
                sys::rte_fib_lookup_bulk(self.routes.as_ptr(), bits.as_mut_ptr(), entries.as_mut_ptr(), count as i32)
            };
            for (next_hop, entry) in next_hops.iter_mut().zip(entries).take(count) {
                *next_hop = self.routes.known(entry);
                hits += usize::from(next_hop.is_some());
            }
        }
        hits
    }
}

impl fmt::Debug for Fib {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fib").field("routes", &self.routes.len()).finish_non_exhaustive()
    }
}

fn first_bits(address: Ipv4Addr) -> u128 {
    u128::from(address.to_bits()) << 96
}

/// The address in the first bits of `bits`.
const fn ip(bits: u128) -> u32 {
    (bits >> 96) as u32
}

/// # Safety
/// The table is live, and nobody changes it meanwhile.
unsafe fn entry(table: *mut sys::rte_fib, mut ip: u32) -> u64 {
    let mut entry = 0;
    // SAFETY: the caller promises a table that is live and only read. There is one address, and room for one next hop.
    unsafe { sys::rte_fib_lookup_bulk(table, &raw mut ip, &raw mut entry, 1) };
    entry
}

impl Table for sys::rte_fib {
    const BITS: u8 = 32;
    const SHORTEST_ENTRY_LOG2: u32 = 0;
    const WRAPS: bool = true;
    const ADD: &'static str = "rte_fib_add";
    const DELETE: &'static str = "rte_fib_delete";

    /// DPDK 22.11 does not count a group whose first route has the next hop of the prefix around it, but counts it when
    /// the route is removed. From then on DPDK considers the table full. So such a route is first added with another
    /// next hop.
    ///
    /// # Safety
    /// The table is live, and nobody else uses it.
    unsafe fn add(table: *mut Self, prefix: u128, depth: u8, next_hop: u64, is_new: bool) -> i32 {
        // SAFETY: the caller promises a table that is live and nobody else uses.
        if is_new && depth > 24 && unsafe { entry(table, ip(prefix)) } == next_hop {
            // SAFETY: the caller promises a table that is live and nobody else uses.
            let result = unsafe { sys::rte_fib_add(table, ip(prefix), depth, next_hop ^ 1) };
            if result != 0 {
                return result;
            }
        }
        // SAFETY: the caller promises a table that is live and nobody else uses.
        unsafe { sys::rte_fib_add(table, ip(prefix), depth, next_hop) }
    }

    /// # Safety
    /// The table is live, and nobody else uses it.
    unsafe fn delete(table: *mut Self, prefix: u128, depth: u8) -> i32 {
        // SAFETY: the caller promises a table that is live and nobody else uses.
        unsafe { sys::rte_fib_delete(table, ip(prefix), depth) }
    }

    /// # Safety
    /// The table is live, and nobody changes it meanwhile.
    unsafe fn rule(table: *mut Self, prefix: u128, depth: u8) -> Option<u64> {
        let mut next_hop = 0;
        // SAFETY: the caller promises a table that is live and only read.
        let found = unsafe { sys::dpdk_sys_fib_rule(table, ip(prefix), depth, &raw mut next_hop) };
        (found != 0).then_some(next_hop)
    }

    /// # Safety
    /// The table is live, nobody uses it any more, and nobody else frees it.
    unsafe fn free(table: NonNull<Self>) {
        // SAFETY: the caller promises a live table that nobody uses.
        unsafe { sys::rte_fib_free(table.as_ptr()) };
    }
}
