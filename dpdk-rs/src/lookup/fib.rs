// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Routes of IPv4 in a forwarding table: as [`Lpm`](super::Lpm), with a default route and longer next hops.

use crate::{
    CreateError, Eal, Errno, SocketId,
    object::{Handle, Kind},
};
use core::{fmt, net::Ipv4Addr, ptr::NonNull};
use dpdk_sys as sys;
use std::{collections::HashMap, sync::Arc};

/// `RTE_MEMPOOL_NAMESIZE` less the NUL byte and `MP_`: a pool of nodes has a name that is longer by these.
const FIB: Kind = Kind { name: "FIB", call: "rte_fib_create", longest_name: 22 };

const BITS: u8 = 32;

/// The bits of a prefix that the first table has entries for.
const TABLE_BITS: u8 = 24;

const MOST_ROUTES: u32 = 1 << 24;

/// DPDK works out places in a group's entries in 32 bits.
const MOST_TBL8S: u32 = 1 << 20;

/// DPDK changes a route only if two groups are free, even where it needs none. Without them it answers that all went well.
const SPARE_TBL8S: u32 = 2;

/// Addresses of one call of `rte_fib_lookup_bulk`.
const BULK: usize = 64;

/// Why a route was not added to or removed from a [`Fib`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FibError {
    /// A prefix has at most as many bits as an address.
    #[error("a prefix of {0} bits: give from 0 to 32")]
    Depth(u8),
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
    /// All groups are in use that there are for prefixes longer than 24 bits.
    #[error("the table has its {0} groups for prefixes longer than 24 bits: ask for more with FibBuilder::tbl8s")]
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

/// Routes of IPv4, each from a prefix of 0 to 32 bits to a next hop: a number, of up to 63 bits.
///
/// A look-up in bulk is one read of memory for most prefixes, and two for those longer than 24 bits; with
/// `--force-max-simd-bitwidth=512` DPDK does 16 at a time where the processor has AVX-512. The table takes 16 MiB times the bytes
/// of an entry, which are 4 unless [`FibBuilder::last_next_hop`] asks for others.
///
/// A table of which routes are changed is borrowed exclusively: DPDK changes entries that a reader could see half written.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
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
    table: Handle<sys::rte_fib>,
    /// What a look-up finds where there is no route.
    none: u64,
    routes: u32,
    most_routes: u32,
    /// How many routes of more than 24 bits begin with each 24 bits. `None` without a table.
    groups: Option<HashMap<u32, u32>>,
    most_groups: u32,
}

impl Fib {
    /// Starts to describe a table. The name is the process's own, of at most 22 bytes: two tables cannot share one.
    pub fn builder(name: impl Into<String>) -> FibBuilder {
        FibBuilder {
            name: name.into(),
            routes: 1024,
            tbl8s: 256,
            last_next_hop: (1 << 31) - 2,
            tree: false,
            socket: SocketId::ANY,
        }
    }

    /// Adds a route, or gives one another next hop. Bits of `prefix` behind `depth` do not count; with a `depth` of 0 it is the
    /// default route.
    ///
    /// # Errors
    /// See [`FibError`]; nothing is changed then.
    #[doc(alias = "rte_fib_add")]
    pub fn add(&mut self, prefix: Ipv4Addr, depth: u8, next_hop: u64) -> Result<(), FibError> {
        let ip = masked(prefix.to_bits(), depth)?;
        if next_hop >= self.none {
            return Err(FibError::NextHop { next_hop, last: self.none - 1 });
        }
        match self.find(ip, depth) {
            Some(known) if known == next_hop => return Ok(()),
            Some(_) => (),
            None if self.routes == self.most_routes => return Err(FibError::Routes(self.most_routes)),
            None => {
                let most = self.most_groups as usize;
                let full = |groups: &HashMap<_, _>| groups.len() == most && !groups.contains_key(&(ip >> 8));
                if depth > TABLE_BITS && self.groups.as_ref().is_some_and(full) {
                    return Err(FibError::Groups(self.most_groups));
                }
            }
        }
        self.beside_the_end(ip, depth, |fib| fib.put(ip, depth, next_hop))
    }

    /// Removes a route.
    ///
    /// # Errors
    /// [`FibError::Depth`], or [`FibError::Missing`] if there is no such route.
    #[doc(alias = "rte_fib_delete")]
    pub fn delete(&mut self, prefix: Ipv4Addr, depth: u8) -> Result<(), FibError> {
        let ip = masked(prefix.to_bits(), depth)?;
        self.find(ip, depth).ok_or(FibError::Missing)?;
        self.beside_the_end(ip, depth, |fib| fib.remove(ip, depth))
    }

    /// The next hop of a route; `None` if there is no such route.
    #[doc(alias = "rte_rib_lookup_exact")]
    #[must_use]
    pub fn rule(&self, prefix: Ipv4Addr, depth: u8) -> Option<u64> {
        self.find(masked(prefix.to_bits(), depth).ok()?, depth)
    }

    /// How many routes there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.routes as usize
    }

    /// Whether there is no route.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.routes == 0
    }

    /// The next hop of the longest prefix that matches.
    #[must_use]
    pub fn lookup(&self, address: Ipv4Addr) -> Option<u64> {
        self.known(self.entry(address.to_bits()))
    }

    /// Looks up all `addresses`; the next hop of each is put in its place in `next_hops`, as far as both are long.
    ///
    /// Returns how many have one.
    #[doc(alias = "rte_fib_lookup_bulk")]
    pub fn lookup_bulk(&self, addresses: &[Ipv4Addr], next_hops: &mut [Option<u64>]) -> usize {
        let mut hits = 0;
        for (addresses, next_hops) in addresses.chunks(BULK).zip(next_hops.chunks_mut(BULK)) {
            let count = addresses.len().min(next_hops.len());
            let (mut bits, mut entries) = ([0; BULK], [0_u64; BULK]);
            for (bits, address) in bits.iter_mut().zip(addresses) {
                *bits = address.to_bits();
            }
            // SAFETY: the table is live as long as its handle, and only read; whoever changes it has it exclusively. Both
            // arrays have room for `count`.
            unsafe {
                sys::rte_fib_lookup_bulk(self.table.as_ptr(), bits.as_mut_ptr(), entries.as_mut_ptr(), count as i32)
            };
            for (next_hop, entry) in next_hops.iter_mut().zip(entries).take(count) {
                *next_hop = self.known(entry);
                hits += usize::from(next_hop.is_some());
            }
        }
        hits
    }

    const fn known(&self, entry: u64) -> Option<u64> {
        if entry == self.none { None } else { Some(entry) }
    }

    fn entry(&self, ip: u32) -> u64 {
        let (mut ip, mut entry) = (ip, self.none);
        // SAFETY: the table is live as long as its handle, and only read; whoever changes it has it exclusively. There is one
        // address, and room for one next hop.
        unsafe { sys::rte_fib_lookup_bulk(self.table.as_ptr(), &raw mut ip, &raw mut entry, 1) };
        entry
    }

    fn find(&self, ip: u32, depth: u8) -> Option<u64> {
        let mut next_hop = 0;
        // SAFETY: the table is live as long as its handle, and only read; whoever changes it has it exclusively.
        let found = unsafe { sys::dpdk_sys_fib_rule(self.table.as_ptr(), ip, depth, &raw mut next_hop) };
        (found != 0).then_some(next_hop)
    }

    /// Changes a prefix by `change`. If it reaches to the last address, the routes within it that do so too are out of the table
    /// meanwhile: DPDK 22.11 adds up where each of them ends, arrives at 0, and takes that for the beginning. Then it gives all
    /// addresses the next hop of the prefix.
    fn beside_the_end(
        &mut self,
        ip: u32,
        depth: u8,
        change: impl FnOnce(&mut Self) -> Result<(), FibError>,
    ) -> Result<(), FibError> {
        let mut within = Vec::new();
        if self.groups.is_some() && masked(u32::MAX, depth)? == ip {
            for depth in depth + 1..=BITS {
                let ip = masked(u32::MAX, depth)?;
                within.extend(self.find(ip, depth).map(|next_hop| (ip, depth, next_hop)));
            }
        }
        for (ip, depth, _) in within.iter().rev() {
            self.remove(*ip, *depth)?;
        }
        let result = change(self);
        for (ip, depth, next_hop) in within {
            self.put(ip, depth, next_hop)?;
        }
        result
    }

    /// Adds a route, or changes it.
    fn put(&mut self, ip: u32, depth: u8, next_hop: u64) -> Result<(), FibError> {
        let is_new = self.find(ip, depth).is_none();
        let first = |groups: &HashMap<_, _>| depth > TABLE_BITS && !groups.contains_key(&(ip >> 8));
        // DPDK 22.11 does not count a group whose first route has the next hop of the prefix around it, and counts it when it is
        // removed: from then on it takes the table for full. So the route is first added with another one.
        if is_new && self.groups.as_ref().is_some_and(first) && self.entry(ip) == next_hop {
            self.call_add(ip, depth, next_hop ^ 1)?;
        }
        self.call_add(ip, depth, next_hop)?;
        if is_new {
            self.routes += 1;
            if let Some(groups) = self.groups.as_mut().filter(|_| depth > TABLE_BITS) {
                *groups.entry(ip >> 8).or_default() += 1;
            }
        }
        Ok(())
    }

    fn call_add(&mut self, ip: u32, depth: u8, next_hop: u64) -> Result<(), FibError> {
        // SAFETY: the table is live as long as its handle, and borrowed exclusively.
        let result = unsafe { sys::rte_fib_add(self.table.as_ptr(), ip, depth, next_hop) };
        check("rte_fib_add", result)
    }

    /// Removes a route that there is.
    fn remove(&mut self, ip: u32, depth: u8) -> Result<(), FibError> {
        // SAFETY: the table is live as long as its handle, and borrowed exclusively.
        let result = unsafe { sys::rte_fib_delete(self.table.as_ptr(), ip, depth) };
        check("rte_fib_delete", result)?;
        self.routes -= 1;
        if let Some(groups) = self.groups.as_mut().filter(|_| depth > TABLE_BITS)
            && let Some(count) = groups.get_mut(&(ip >> 8))
        {
            *count -= 1;
            if *count == 0 {
                groups.remove(&(ip >> 8));
            }
        }
        Ok(())
    }
}

/// The bits of the prefix.
fn masked(ip: u32, depth: u8) -> Result<u32, FibError> {
    match depth {
        0 => Ok(0),
        1..=BITS => Ok(ip & (u32::MAX << (BITS - depth))),
        _ => Err(FibError::Depth(depth)),
    }
}

fn check(call: &'static str, result: i32) -> Result<(), FibError> {
    Errno::check(result).map(drop).map_err(|errno| FibError::Call { call, errno })
}

impl fmt::Debug for Fib {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fib").field("routes", &self.routes).finish_non_exhaustive()
    }
}

/// Describes a [`Fib`]; made by [`Fib::builder`].
#[derive(Clone, Debug)]
#[must_use = "a table is made by `build`"]
pub struct FibBuilder {
    name: String,
    routes: u32,
    tbl8s: u32,
    last_next_hop: u64,
    tree: bool,
    socket: SocketId,
}

impl FibBuilder {
    /// How many routes fit in, at most 2^24; 1,024 unless set.
    pub const fn routes(mut self, routes: u32) -> Self {
        self.routes = routes;
        self
    }

    /// How many groups of 256 entries there can be for prefixes longer than 24 bits: one for each 24 bits that such prefixes begin
    /// with; 256 unless set, at most 2^20.
    pub const fn tbl8s(mut self, groups: u32) -> Self {
        self.tbl8s = groups;
        self
    }

    /// The largest next hop; 2^31 - 2 unless set, at most 2^63 - 2. Entries have 1 byte up to 126, and 2 up to 32,766, if there are
    /// at most 125 or 32,765 groups; 4 up to 2^31 - 2, else 8.
    pub const fn last_next_hop(mut self, next_hop: u64) -> Self {
        self.last_next_hop = next_hop;
        self
    }

    /// Without a table: each look-up goes down a tree, which takes little memory and longer (`RTE_FIB_DUMMY`).
    pub const fn tree(mut self) -> Self {
        self.tree = true;
        self
    }

    /// The NUMA node whose memory to use; any unless set.
    pub const fn socket(mut self, socket: SocketId) -> Self {
        self.socket = socket;
        self
    }

    /// Makes the table.
    ///
    /// # Errors
    /// See [`CreateError`]: a name in use, no memory, no routes, more routes, groups or bits of next hops than there can be.
    #[doc(alias = "rte_fib_create")]
    pub fn build(self, eal: &Eal) -> Result<Fib, CreateError> {
        if self.routes > MOST_ROUTES || self.tbl8s > MOST_TBL8S {
            let elements = self.routes.max(self.tbl8s) as usize;
            return Err(FIB.too_large(&self.name, elements, 1 << self.entry_size_log2().unwrap_or(3)));
        }
        let environment = eal.environment();
        let entry_size_log2 = self.entry_size_log2();
        // The last next hop that an entry has bits for stands for none.
        let none = entry_size_log2.map_or(0, last_of);
        let tbl8s = if self.tree { 0 } else { self.tbl8s + SPARE_TBL8S };
        let table = FIB.create(environment, &self.name, |name| {
            let Some(entry_size_log2) = entry_size_log2 else { return crate::object::refuse(sys::EINVAL) };
            // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the call
            // copies what it is given.
            unsafe { sys::dpdk_sys_fib_create(name, self.socket.get(), self.routes, none, entry_size_log2, tbl8s) }
        })?;
        // SAFETY: the table is new, so nobody else frees it; `free` may be called on any thread, since DPDK locks its list.
        let table = unsafe { Handle::new(table, free, Arc::clone(environment)) };
        let groups = (!self.tree).then(HashMap::new);
        Ok(Fib { table, none, routes: 0, most_routes: self.routes, groups, most_groups: self.tbl8s })
    }

    /// The shortest entry that has bits for the next hops, for the number of a group, and for one that stands for none.
    fn entry_size_log2(&self) -> Option<u32> {
        let groups = if self.tree { 0 } else { u64::from(self.tbl8s.saturating_add(SPARE_TBL8S)) };
        (0..4).find(|size| self.last_next_hop < last_of(*size) && groups <= last_of(*size))
    }
}

/// The largest number in an entry, of which one bit says whether it is the number of a group.
const fn last_of(entry_size_log2: u32) -> u64 {
    u64::MAX >> (65 - (8 << entry_size_log2))
}

/// # Safety
/// The table is live, nobody uses it any more, and nobody else frees it.
unsafe fn free(table: NonNull<sys::rte_fib>) {
    // SAFETY: the caller promises a live table that nobody uses.
    unsafe { sys::rte_fib_free(table.as_ptr()) };
}
