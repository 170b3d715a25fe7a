// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Routes of IPv4: the longest prefix that matches an address.

use crate::{
    CreateError, Eal, Errno, SocketId,
    object::{Handle, Kind},
};
use core::{fmt, marker::PhantomData, net::Ipv4Addr, ptr::NonNull};
use dpdk_sys as sys;
use std::sync::Arc;

/// `RTE_LPM_NAMESIZE` less the NUL byte.
const LPM: Kind = Kind { name: "LPM table", call: "rte_lpm_create", longest_name: 31 };

/// The bits of an address.
const BITS: u8 = 32;

/// A next hop has 24 bits: DPDK cuts what is longer.
const LAST_NEXT_HOP: u32 = (1 << 24) - 1;

/// DPDK works out sizes from the number of rules in 32 bits.
pub(super) const MOST_RULES: u32 = 1 << 26;

/// Addresses of one call of `rte_lpm_lookup_bulk`, which has a place on the stack for each.
const BULK: usize = 64;

/// Why a route was not added to or removed from an [`Lpm`] or [`Lpm6`](super::Lpm6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LpmError {
    /// A prefix has at least one bit, and at most as many as an address: DPDK has no default route. Two prefixes of
    /// one bit do instead.
    #[error("a prefix of {depth} bits: give from 1 to {longest}{}", if *depth == 0 { ", for a default route both of 1 bit" } else { "" })]
    Depth {
        /// Bits asked for.
        depth: u8,
        /// The bits of an address.
        longest: u8,
    },
    /// The next hop needs more bits than an entry has.
    #[error("next hop {next_hop}: the last one is {last}")]
    NextHop {
        /// The next hop asked for.
        next_hop: u32,
        /// The largest that fits.
        last: u32,
    },
    /// The call of DPDK failed.
    #[error("{call}: {errno}")]
    Call {
        /// The call.
        call: &'static str,
        /// `ENOSPC` if there is no room for the rule or for what is behind its first 24 bits, `EINVAL` if there is no such
        /// rule, …
        errno: Errno,
    },
}

impl LpmError {
    /// DPDK's error, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Call { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the call of DPDK that failed.
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

    /// The result of a call.
    pub(super) fn check_call(call: &'static str, result: i32) -> Result<(), Self> {
        Errno::check(result).map(drop).map_err(|errno| Self::Call { call, errno })
    }
}

/// Routes of IPv4, each from a prefix of 1 to 32 bits to a next hop: a number of 24 bits, such as of a port or of an entry
/// in a table of the program's own.
///
/// A look-up is one read of memory for most prefixes, and two for those longer than 24 bits. The table takes 64 MiB, and 1 KiB
/// for each group of longer prefixes ([`LpmBuilder::tbl8s`]).
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
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
    /// Starts to describe a table. The name is the process's own, of at most 31 bytes: two tables cannot share one.
    pub fn builder(name: impl Into<String>) -> LpmBuilder {
        LpmBuilder::new(name.into(), 256)
    }

    /// Adds a route, or gives one another next hop. Bits of `prefix` behind `depth` do not count.
    ///
    /// # Errors
    /// [`LpmError::Depth`], [`LpmError::NextHop`], or [`LpmError::Call`] if the table is full.
    #[doc(alias = "rte_lpm_add")]
    pub fn add(&mut self, prefix: Ipv4Addr, depth: u8, next_hop: u32) -> Result<(), LpmError> {
        LpmError::check_depth(depth, BITS)?;
        LpmError::check_next_hop(next_hop, LAST_NEXT_HOP)?;
        // SAFETY: the table is live as long as its handle, and borrowed exclusively.
        let result = unsafe { sys::rte_lpm_add(self.table.as_ptr(), prefix.to_bits(), depth, next_hop) };
        LpmError::check_call("rte_lpm_add", result)
    }

    /// Removes a route.
    ///
    /// # Errors
    /// [`LpmError::Depth`], or [`LpmError::Call`] if there is no such route.
    #[doc(alias = "rte_lpm_delete")]
    pub fn delete(&mut self, prefix: Ipv4Addr, depth: u8) -> Result<(), LpmError> {
        LpmError::check_depth(depth, BITS)?;
        // SAFETY: the table is live as long as its handle, and borrowed exclusively.
        let result = unsafe { sys::rte_lpm_delete(self.table.as_ptr(), prefix.to_bits(), depth) };
        LpmError::check_call("rte_lpm_delete", result)
    }

    /// Removes all routes.
    #[doc(alias = "rte_lpm_delete_all")]
    pub fn clear(&mut self) {
        // SAFETY: the table is live as long as its handle, and borrowed exclusively.
        unsafe { sys::rte_lpm_delete_all(self.table.as_ptr()) };
    }

    /// The next hop of a route; `None` if there is no such route.
    #[doc(alias = "rte_lpm_is_rule_present")]
    #[must_use]
    pub fn rule(&self, prefix: Ipv4Addr, depth: u8) -> Option<u32> {
        LpmError::check_depth(depth, BITS).ok()?;
        let mut next_hop = 0;
        // SAFETY: the table is live as long as its handle, and only read; whoever changes it has it exclusively.
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
        // SAFETY: the table is live as long as its handle, and only read; whoever changes it has it exclusively.
        let result = unsafe { sys::rte_lpm_lookup(self.table.as_ptr(), address.to_bits(), &raw mut next_hop) };
        (result == 0).then_some(next_hop)
    }

    /// Looks up all `addresses`; the next hop of each is put in its place in `next_hops`, as far as both are long.
    ///
    /// Returns how many have one.
    #[doc(alias = "rte_lpm_lookup_bulk")]
    pub fn lookup_bulk(&self, addresses: &[Ipv4Addr], next_hops: &mut [Option<u32>]) -> usize {
        let mut hits = 0;
        for (addresses, next_hops) in addresses.chunks(BULK).zip(next_hops.chunks_mut(BULK)) {
            let count = addresses.len().min(next_hops.len());
            let (mut bits, mut entries) = ([0; BULK], [0_u32; BULK]);
            for (bits, address) in bits.iter_mut().zip(addresses) {
                *bits = address.to_bits();
            }
            // SAFETY: the table is live as long as its handle, and only read; whoever changes it has it exclusively. Both
            // arrays have room for `count`.
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

/// Describes an [`Lpm`] or an [`Lpm6`](super::Lpm6); made by [`Lpm::builder`] or [`Lpm6::builder`](super::Lpm6::builder).
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

    /// How many routes fit in, at most 2^26; 1,024 unless set.
    pub const fn rules(mut self, rules: u32) -> Self {
        self.rules = rules;
        self
    }

    /// How many groups of 256 entries there can be for prefixes longer than 24 bits. IPv4: one for each 24 bits that such
    /// prefixes begin with; 256 unless set, at most 2^24. IPv6: one for each 24 bits, and for each 8 bits behind them that such
    /// prefixes share; 4,096 unless set, at most 2^21.
    pub const fn tbl8s(mut self, groups: u32) -> Self {
        self.tbl8s = groups;
        self
    }

    /// The NUMA node whose memory to use; any unless set.
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
    /// Makes the table.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, no memory, no rules, a child made by `fork`.
    #[doc(alias = "rte_lpm_create")]
    pub fn build(self, eal: &Eal) -> Result<Lpm, CreateError> {
        if self.rules > MOST_RULES {
            return Err(LPM.too_large(&self.name, self.rules as usize, size_of::<Ipv4Addr>()));
        }
        let config = sys::rte_lpm_config { max_rules: self.rules, number_tbl8s: self.tbl8s, flags: 0 };
        let environment = eal.environment();
        let table = LPM.create(environment, &self.name, |name| {
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call
            // copies what it is given.
            unsafe { sys::rte_lpm_create(name, self.socket.get(), &raw const config) }
        })?;
        // SAFETY: the table is new, so nobody else frees it; `free` may be called on any thread, since DPDK locks its list.
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
