// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! IPv4 routes: the longest prefix that matches an address.

use crate::{
    CreateError, Eal, Errno, SocketId,
    object::{Handle, Kind},
};
use core::{fmt, marker::PhantomData, net::Ipv4Addr, ptr::NonNull};
use dpdk_sys as sys;
use std::sync::Arc;

/// `RTE_LPM_NAMESIZE` less the NUL byte.
const LPM: Kind = Kind { name: "LPM table", call: "rte_lpm_create", longest_name: 31 };

/// The length of an address in bits.
const BITS: u8 = 32;

/// A next hop has 24 bits. DPDK silently truncates a longer one.
const LAST_NEXT_HOP: u32 = (1 << 24) - 1;

/// DPDK computes sizes from the number of rules in 32 bits.
pub(super) const MOST_RULES: u32 = 1 << 26;

/// `rte_lpm_create` computes the bytes of all groups in 32 bits. For more groups than this, it reserves
/// too little memory.
const MOST_TBL8S: u32 = u32::MAX / TBL8_LEN as u32;

/// The bytes of a group of 256 entries.
const TBL8_LEN: usize = 256 * size_of::<u32>();

/// The number of addresses of one `rte_lpm_lookup_bulk` call, which needs room on the stack for each.
const BULK: usize = 64;

/// Why a route was not added to or removed from an [`Lpm`] or [`Lpm6`](super::Lpm6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LpmError {
    /// A prefix has at least one bit, and at most as many as an address. DPDK has no default route: two prefixes of one
    /// bit have the same effect.
    #[error("a prefix of {depth} bits: give from 1 to {longest}{}", if *depth == 0 { "; for a default route, add both prefixes of 1 bit" } else { "" })]
    Depth {
        /// The requested length in bits.
        depth: u8,
        /// The length of an address in bits.
        longest: u8,
    },
    /// The next hop does not fit in an entry.
    #[error("next hop {next_hop}: the largest is {last}")]
    NextHop {
        /// The requested next hop.
        next_hop: u32,
        /// The largest next hop that fits.
        last: u32,
    },
    /// A DPDK call failed.
    #[error("{call}: {errno}")]
    Call {
        /// The name of the DPDK function.
        call: &'static str,
        /// `ENOSPC` if the table has no room for the rule or for its bits after the first 24, `EINVAL` if there is no
        /// such rule, …
        errno: Errno,
    },
}

impl LpmError {
    /// DPDK's error, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Call { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Call { call, .. } = self { Some(call) } else { None }
    }

    pub(super) const fn check_depth(depth: u8, longest: u8) -> Result<(), Self> {
        if depth == 0 || depth > longest { Err(Self::Depth { depth, longest }) } else { Ok(()) }
    }

    pub(super) const fn check_next_hop(next_hop: u32, last: u32) -> Result<(), Self> {
        if next_hop > last { Err(Self::NextHop { next_hop, last }) } else { Ok(()) }
    }

    /// Converts the result of a call.
    pub(super) fn check_call(call: &'static str, result: i32) -> Result<(), Self> {
        Errno::check(result).map(drop).map_err(|errno| Self::Call { call, errno })
    }
}

/// IPv4 routes. Each maps a prefix of 1 to 32 bits to a next hop, a number of 24 bits, such as a port or an index into
/// a table of the program.
///
/// A look-up reads memory once for most prefixes, and twice for those longer than 24 bits. The table takes 64 MiB, and
/// 1 KiB for each group of longer prefixes ([`LpmBuilder::tbl8s`]).
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// use dpdk_rs::lookup::Lpm;
/// use std::net::Ipv4Addr;
///
/// let mut routes = Lpm::builder("routes").build(&eal)?;
/// routes.add(Ipv4Addr::new(10, 0, 0, 0), 8, 1)?;
/// routes.add(Ipv4Addr::new(10, 1, 0, 0), 16, 2)?;
/// assert_eq!(routes.lookup(Ipv4Addr::new(10, 1, 2, 3)), Some(2));
/// assert_eq!(routes.lookup(Ipv4Addr::new(192, 168, 0, 1)), None);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "rte_lpm")]
pub struct Lpm {
    table: Handle<sys::rte_lpm>,
}

impl Lpm {
    /// Starts the description of a table. `name` has at most 28 bytes and is unique among the LPM tables of the
    /// process.
    pub fn builder(name: impl Into<String>) -> LpmBuilder {
        LpmBuilder::new(name.into(), 256)
    }

    /// Adds a route, or changes the next hop of an existing one. `depth` is the length of the prefix in bits; the bits
    /// of `prefix` after it are ignored.
    ///
    /// # Errors
    /// [`LpmError::Depth`], [`LpmError::NextHop`], or [`LpmError::Call`] if the table is full.
    #[doc(alias = "rte_lpm_add")]
    pub fn add(&mut self, prefix: Ipv4Addr, depth: u8, next_hop: u32) -> Result<(), LpmError> {
        LpmError::check_depth(depth, BITS)?;
        LpmError::check_next_hop(next_hop, LAST_NEXT_HOP)?;
        // SAFETY: the table lives as long as its handle and is borrowed exclusively.
        let result = unsafe { sys::rte_lpm_add(self.table.as_ptr(), prefix.to_bits(), depth, next_hop) };
        LpmError::check_call("rte_lpm_add", result)
    }

    /// Removes a route.
    ///
    /// # Errors
    /// [`LpmError::Depth`], or [`LpmError::Call`] if the route does not exist.
    #[doc(alias = "rte_lpm_delete")]
    pub fn delete(&mut self, prefix: Ipv4Addr, depth: u8) -> Result<(), LpmError> {
        LpmError::check_depth(depth, BITS)?;
        // SAFETY: the table lives as long as its handle and is borrowed exclusively.
        let result = unsafe { sys::rte_lpm_delete(self.table.as_ptr(), prefix.to_bits(), depth) };
        LpmError::check_call("rte_lpm_delete", result)
    }

    /// Removes all routes.
    #[doc(alias = "rte_lpm_delete_all")]
    pub fn clear(&mut self) {
        // SAFETY: the table lives as long as its handle and is borrowed exclusively.
        unsafe { sys::rte_lpm_delete_all(self.table.as_ptr()) };
    }

    /// The next hop of the route for exactly this prefix; `None` if there is no such route.
    #[doc(alias = "rte_lpm_is_rule_present")]
    #[must_use]
    pub fn rule(&self, prefix: Ipv4Addr, depth: u8) -> Option<u32> {
        LpmError::check_depth(depth, BITS).ok()?;
        let mut next_hop = 0;
        // SAFETY: the table lives as long as its handle and is only read. Whoever changes it borrows it exclusively.
        let found =
            unsafe { sys::rte_lpm_is_rule_present(self.table.as_ptr(), prefix.to_bits(), depth, &raw mut next_hop) };
        (found == 1).then_some(next_hop)
    }

    /// The next hop of the longest prefix that matches.
    #[doc(alias = "rte_lpm_lookup")]
    #[inline]
    #[must_use]
    pub fn lookup(&self, address: Ipv4Addr) -> Option<u32> {
        let mut next_hop = 0;
        // SAFETY: the table lives as long as its handle and is only read. Whoever changes it borrows it exclusively.
        let result = unsafe { sys::rte_lpm_lookup(self.table.as_ptr(), address.to_bits(), &raw mut next_hop) };
        (result == 0).then_some(next_hop)
    }

    /// Looks up all `addresses`. Writes the next hop of `addresses[i]`, or `None`, to `next_hops[i]`. If the slices
    /// differ in length, the rest of the longer one is ignored.
    ///
    /// Returns how many addresses have a next hop.
    #[doc(alias = "rte_lpm_lookup_bulk")]
    pub fn lookup_bulk(&self, addresses: &[Ipv4Addr], next_hops: &mut [Option<u32>]) -> usize {
        let mut hits = 0;
        for (addresses, next_hops) in addresses.chunks(BULK).zip(next_hops.chunks_mut(BULK)) {
            let count = addresses.len().min(next_hops.len());
            let (mut bits, mut entries) = ([0; BULK], [0_u32; BULK]);
            for (bits, address) in bits.iter_mut().zip(addresses) {
                *bits = address.to_bits();
            }
            // SAFETY: the table lives as long as its handle and is only read. Whoever changes it borrows it
            // exclusively. Both arrays have room for `count` elements.
            unsafe {
                sys::rte_lpm_lookup_bulk_func(self.table.as_ptr(), bits.as_ptr(), entries.as_mut_ptr(), count as u32)
            };
            for (next_hop, entry) in next_hops.iter_mut().zip(entries).take(count) {
                let found = entry & sys::RTE_LPM_LOOKUP_SUCCESS != 0;
                hits += usize::from(found);
                *next_hop = found.then_some(entry & LAST_NEXT_HOP);
            }
        }
        hits
    }
}

impl fmt::Debug for Lpm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lpm").finish_non_exhaustive()
    }
}

/// The description of an [`Lpm`] or an [`Lpm6`](super::Lpm6), from [`Lpm::builder`] or
/// [`Lpm6::builder`](super::Lpm6::builder).
#[must_use = "a table is made by `build`"]
pub struct LpmBuilder<T = Lpm> {
    pub(super) name: String,
    pub(super) rules: u32,
    pub(super) tbl8s: u32,
    pub(super) socket: SocketId,
    table: PhantomData<fn() -> T>,
}

impl<T> LpmBuilder<T> {
    pub(super) const fn new(name: String, tbl8s: u32) -> Self {
        Self { name, rules: 1024, tbl8s, socket: SocketId::ANY, table: PhantomData }
    }

    /// The maximum number of routes, up to 2^26. Default: 1,024.
    pub const fn rules(mut self, rules: u32) -> Self {
        self.rules = rules;
        self
    }

    /// The number of groups of 256 entries for prefixes longer than 24 bits.
    ///
    /// - IPv4: one group for each first 24 bits that such prefixes have, at most 2^22 - 1. Default: 256.
    /// - IPv6: one group for each first 24 bits, and one for each further 8 bits, that such prefixes have, at most
    ///   2^21. Default: 4,096.
    pub const fn tbl8s(mut self, groups: u32) -> Self {
        self.tbl8s = groups;
        self
    }

    /// The NUMA node for the table's memory. Default: any.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }
}

impl<T> fmt::Debug for LpmBuilder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LpmBuilder").field("name", &self.name).field("rules", &self.rules).finish_non_exhaustive()
    }
}

impl LpmBuilder<Lpm> {
    /// Creates the table.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, too little memory, no rules, or a child process created by `fork`.
    #[doc(alias = "rte_lpm_create")]
    pub fn build(self, eal: &Eal) -> Result<Lpm, CreateError> {
        if self.rules > MOST_RULES {
            return Err(LPM.too_large(&self.name, self.rules as usize, size_of::<Ipv4Addr>()));
        }
        if self.tbl8s > MOST_TBL8S {
            return Err(LPM.too_large(&self.name, self.tbl8s as usize, TBL8_LEN));
        }
        let config = sys::rte_lpm_config { max_rules: self.rules, number_tbl8s: self.tbl8s, flags: 0 };
        let environment = eal.environment();
        let table = LPM.create(environment, &self.name, |name| {
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked. The
            // call copies its arguments.
            unsafe { sys::rte_lpm_create(name, self.socket.get(), &raw const config) }
        })?;
        // SAFETY: the table is new, so nobody else frees it. Any thread may call `free`, since DPDK locks its list of
        // tables.
        let table = unsafe { Handle::new(table, free, Arc::clone(environment)) };
        Ok(Lpm { table })
    }
}

/// # Safety
/// The table is live, nobody uses it any more, and nobody else frees it.
unsafe fn free(table: NonNull<sys::rte_lpm>) {
    // SAFETY: the caller promises a live table that nobody uses.
    unsafe { sys::rte_lpm_free(table.as_ptr()) };
}
