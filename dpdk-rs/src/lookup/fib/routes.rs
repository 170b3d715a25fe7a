// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The routes in a forwarding table, and what this crate checks before DPDK changes one.

use super::error::FibError;
use crate::{Eal, Errno, object::Handle};
use core::ptr::NonNull;
use std::{collections::HashMap, sync::Arc};

/// The number of addresses of one `rte_fib_lookup_bulk` or `rte_fib6_lookup_bulk` call.
pub(super) const BULK: usize = 64;

/// The length of a prefix in the first table, in bits. Each further 8 bits are looked up in a group.
const TABLE_BITS: u8 = 24;
const GROUP_BITS: usize = 8;

/// DPDK's table for one kind of address. An address is stored in the first bits of a `u128`.
pub(super) trait Table: Sized {
    /// The length of an address in bits.
    const BITS: u8;
    /// The size of the shortest entry in bytes, as a power of two.
    const SHORTEST_ENTRY_LOG2: u32;
    /// Whether DPDK treats the end of the address range, which wraps to 0, as an address with the same first 24 bits as
    /// 0.
    const WRAPS: bool;
    /// The names of the DPDK functions.
    const ADD: &'static str;
    const DELETE: &'static str;

    /// Adds a route, or changes an existing one.
    ///
    /// # Safety
    /// The table is live, and nobody else uses it.
    unsafe fn add(table: *mut Self, prefix: u128, depth: u8, next_hop: u64, is_new: bool) -> i32;

    /// Removes a route.
    ///
    /// # Safety
    /// The table is live, and nobody else uses it.
    unsafe fn delete(table: *mut Self, prefix: u128, depth: u8) -> i32;

    /// The next hop of a route.
    ///
    /// # Safety
    /// The table is live, and nobody changes it meanwhile.
    unsafe fn rule(table: *mut Self, prefix: u128, depth: u8) -> Option<u64>;

    /// Frees the table. Any thread may do so: DPDK locks its list.
    ///
    /// # Safety
    /// The table is live, nobody uses it any more, and nobody else frees it.
    unsafe fn free(table: NonNull<Self>);
}

pub(super) struct Routes<T: Table> {
    table: Handle<T>,
    /// The look-up result that means "no route".
    none: u64,
    count: u32,
    most: u32,
    /// `None` for a tree.
    groups: Option<Groups>,
}

impl<T: Table> Routes<T> {
    /// Takes ownership of a table without routes.
    ///
    /// # Safety
    /// The table is live, and nobody else frees it.
    pub(super) unsafe fn new(table: NonNull<T>, eal: &Eal, none: u64, most: u32, groups: Option<u32>) -> Self {
        // SAFETY: the caller promises that nobody else frees the table; `free` may be called on any thread.
        let table = unsafe { Handle::new(table, T::free, Arc::clone(eal.environment())) };
        let groups = groups.map(|most| Groups { used: HashMap::new(), most });
        Self { table, none, count: 0, most, groups }
    }

    #[inline]
    pub(super) const fn as_ptr(&self) -> *mut T {
        self.table.as_ptr()
    }

    #[inline]
    pub(super) const fn none(&self) -> u64 {
        self.none
    }

    /// The next hop of an entry.
    #[inline]
    pub(super) const fn known(&self, entry: u64) -> Option<u64> {
        if entry == self.none { None } else { Some(entry) }
    }

    pub(super) const fn len(&self) -> u32 {
        self.count
    }

    pub(super) fn add(&mut self, address: u128, depth: u8, next_hop: u64) -> Result<(), FibError> {
        let prefix = prefix::<T>(address, depth)?;
        if next_hop >= self.none {
            return Err(FibError::NextHop { next_hop, last: self.none - 1 });
        }
        match self.find(prefix, depth) {
            Some(known) if known == next_hop => return Ok(()),
            Some(_) => (),
            None if self.count == self.most => return Err(FibError::Routes(self.most)),
            None => self.groups.as_ref().map_or(Ok(()), |groups| groups.check(prefix, depth))?,
        }
        self.beside_the_end(prefix, depth, |routes| routes.put(prefix, depth, next_hop))
    }

    pub(super) fn delete(&mut self, address: u128, depth: u8) -> Result<(), FibError> {
        let prefix = prefix::<T>(address, depth)?;
        self.find(prefix, depth).ok_or(FibError::Missing)?;
        self.beside_the_end(prefix, depth, |routes| routes.remove(prefix, depth))
    }

    pub(super) fn rule(&self, address: u128, depth: u8) -> Option<u64> {
        self.find(prefix::<T>(address, depth).ok()?, depth)
    }

    fn find(&self, prefix: u128, depth: u8) -> Option<u64> {
        // SAFETY: the table lives as long as its handle and is only read. Whoever changes it borrows it exclusively.
        unsafe { T::rule(self.as_ptr(), prefix, depth) }
    }

    /// Changes a prefix by `change`, with some routes removed during the change to avoid two bugs of DPDK 22.11.
    ///
    /// If the prefix reaches the last address, routes within it that also reach the last address are removed. DPDK adds
    /// up where each of them ends, arrives at 0, and takes that for the beginning: it would give all addresses the next
    /// hop of the prefix.
    ///
    /// If the default route changes, routes of the first group are removed too. DPDK compares the end of the last such
    /// route with the end of the address range, 0, finds both in one group, and writes nothing.
    fn beside_the_end(
        &mut self,
        prefix: u128,
        depth: u8,
        change: impl FnOnce(&mut Self) -> Result<(), FibError>,
    ) -> Result<(), FibError> {
        let mut within = Vec::new();
        if self.groups.is_some() && masked(u128::MAX, depth) == prefix {
            for depth in depth + 1..=T::BITS {
                let prefix = masked(u128::MAX, depth);
                within.extend(self.find(prefix, depth).map(|next_hop| (prefix, depth, next_hop)));
            }
        }
        if T::WRAPS && depth == 0 && self.groups.as_ref().is_some_and(Groups::has_first) {
            for depth in TABLE_BITS + 1..=T::BITS {
                let all = (0..1_u128 << (depth - TABLE_BITS)).map(|number| number << (128 - u32::from(depth)));
                within.extend(all.filter_map(|prefix| Some((prefix, depth, self.find(prefix, depth)?))));
            }
        }
        for (prefix, depth, _) in within.iter().rev() {
            self.remove(*prefix, *depth)?;
        }
        let result = change(self);
        for (prefix, depth, next_hop) in within {
            self.put(prefix, depth, next_hop)?;
        }
        result
    }

    /// Adds or changes a route.
    fn put(&mut self, prefix: u128, depth: u8, next_hop: u64) -> Result<(), FibError> {
        let is_new = self.find(prefix, depth).is_none();
        // SAFETY: the table lives as long as its handle and is borrowed exclusively.
        check(T::ADD, unsafe { T::add(self.as_ptr(), prefix, depth, next_hop, is_new) })?;
        if is_new {
            self.count += 1;
            if let Some(groups) = &mut self.groups {
                groups.add(prefix, depth);
            }
        }
        Ok(())
    }

    /// Removes an existing route.
    fn remove(&mut self, prefix: u128, depth: u8) -> Result<(), FibError> {
        // SAFETY: the table lives as long as its handle and is borrowed exclusively.
        check(T::DELETE, unsafe { T::delete(self.as_ptr(), prefix, depth) })?;
        self.count -= 1;
        if let Some(groups) = &mut self.groups {
            groups.remove(prefix, depth);
        }
        Ok(())
    }
}

/// The groups in use by routes longer than 24 bits.
struct Groups {
    /// For each prefix of whole groups, the number of routes that need its group.
    used: HashMap<(u8, u128), u32>,
    most: u32,
}

impl Groups {
    /// Checks that enough groups are free for a new route.
    fn check(&self, prefix: u128, depth: u8) -> Result<(), FibError> {
        let missing = Self::of(prefix, depth).filter(|group| !self.used.contains_key(group)).count();
        if missing > 0 && self.used.len() + missing > self.most as usize {
            return Err(FibError::Groups(self.most));
        }
        Ok(())
    }

    /// Whether a group exists for the addresses whose first 24 bits are 0.
    fn has_first(&self) -> bool {
        self.used.contains_key(&(TABLE_BITS, 0))
    }

    fn add(&mut self, prefix: u128, depth: u8) {
        for group in Self::of(prefix, depth) {
            *self.used.entry(group).or_default() += 1;
        }
    }

    fn remove(&mut self, prefix: u128, depth: u8) {
        for group in Self::of(prefix, depth) {
            if let Some(count) = self.used.get_mut(&group) {
                *count -= 1;
                if *count == 0 {
                    self.used.remove(&group);
                }
            }
        }
    }

    /// The groups that a prefix needs.
    fn of(prefix: u128, depth: u8) -> impl Iterator<Item = (u8, u128)> {
        (TABLE_BITS..depth).step_by(GROUP_BITS).map(move |bits| (bits, masked(prefix, bits)))
    }
}

/// `address` without the bits after `depth`.
fn prefix<T: Table>(address: u128, depth: u8) -> Result<u128, FibError> {
    if depth > T::BITS { Err(FibError::Depth { depth, longest: T::BITS }) } else { Ok(masked(address, depth)) }
}

fn masked(address: u128, depth: u8) -> u128 {
    address & u128::MAX.checked_shl(128 - u32::from(depth)).unwrap_or(0)
}

fn check(call: &'static str, result: i32) -> Result<(), FibError> {
    Errno::check(result).map(drop).map_err(|errno| FibError::Call { call, errno })
}
