// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The routes in a forwarding table, and what has to be known of them before DPDK changes one.

use super::FibError;
use crate::{Eal, Errno, object::Handle};
use core::ptr::NonNull;
use std::{collections::HashMap, sync::Arc};

/// The bits of a prefix that the first table has entries for. Each further 8 bits are looked up in a group.
const TABLE_BITS: u8 = 24;
const GROUP_BITS: usize = 8;

/// DPDK's table for one kind of addresses. Those of any kind are the first bits of a `u128`.
pub(super) trait Table: Sized {
    /// The bits of an address.
    const BITS: u8;
    /// The bytes of the shortest entry, as a power of two.
    const SHORTEST_ENTRY_LOG2: u32;
    /// Whether DPDK takes the end of all addresses, 0, for one of the addresses with the same first 24 bits as 0.
    const WRAPS: bool;
    /// The names of the calls.
    const ADD: &'static str;
    const DELETE: &'static str;

    /// Adds a route, or changes the one that there is.
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
    /// What a look-up finds where there is no route.
    none: u64,
    count: u32,
    most: u32,
    /// `None` without a table.
    groups: Option<Groups>,
}

impl<T: Table> Routes<T> {
    /// Takes over a table without routes.
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

    /// What an entry says.
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
        // SAFETY: the table is live as long as its handle, and only read; whoever changes it has it exclusively.
        unsafe { T::rule(self.as_ptr(), prefix, depth) }
    }

    /// Changes a prefix by `change`. If it reaches to the last address, the routes within it that do so too are out of the table
    /// meanwhile: DPDK 22.11 adds up where each of them ends, arrives at 0, and takes that for the beginning. Then it gives all
    /// addresses the next hop of the prefix.
    ///
    /// So are routes of the first group, if it is the default route that changes. Where the last route within it ends there, DPDK
    /// compares that with the end of all addresses, 0, finds both in one group, and writes nothing.
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

    /// Adds a route, or changes it.
    fn put(&mut self, prefix: u128, depth: u8, next_hop: u64) -> Result<(), FibError> {
        let is_new = self.find(prefix, depth).is_none();
        // SAFETY: the table is live as long as its handle, and borrowed exclusively.
        check(T::ADD, unsafe { T::add(self.as_ptr(), prefix, depth, next_hop, is_new) })?;
        if is_new {
            self.count += 1;
            if let Some(groups) = &mut self.groups {
                groups.add(prefix, depth);
            }
        }
        Ok(())
    }

    /// Removes a route that there is.
    fn remove(&mut self, prefix: u128, depth: u8) -> Result<(), FibError> {
        // SAFETY: the table is live as long as its handle, and borrowed exclusively.
        check(T::DELETE, unsafe { T::delete(self.as_ptr(), prefix, depth) })?;
        self.count -= 1;
        if let Some(groups) = &mut self.groups {
            groups.remove(prefix, depth);
        }
        Ok(())
    }
}

/// The groups that routes longer than 24 bits need.
struct Groups {
    /// How many routes need the group for the longer prefixes that begin with so many bits.
    used: HashMap<(u8, u128), u32>,
    most: u32,
}

impl Groups {
    /// Whether there are groups left for a new route.
    fn check(&self, prefix: u128, depth: u8) -> Result<(), FibError> {
        let missing = Self::of(prefix, depth).filter(|group| !self.used.contains_key(group)).count();
        if missing > 0 && self.used.len() + missing > self.most as usize {
            return Err(FibError::Groups(self.most));
        }
        Ok(())
    }

    /// Whether there is a group for the addresses that begin with 24 bits of 0.
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

    /// The groups on the way to a prefix.
    fn of(prefix: u128, depth: u8) -> impl Iterator<Item = (u8, u128)> {
        (TABLE_BITS..depth).step_by(GROUP_BITS).map(move |bits| (bits, masked(prefix, bits)))
    }
}

/// The bits of the prefix.
fn prefix<T: Table>(address: u128, depth: u8) -> Result<u128, FibError> {
    if depth > T::BITS { Err(FibError::Depth { depth, longest: T::BITS }) } else { Ok(masked(address, depth)) }
}

fn masked(address: u128, depth: u8) -> u128 {
    address & u128::MAX.checked_shl(128 - u32::from(depth)).unwrap_or(0)
}

fn check(call: &'static str, result: i32) -> Result<(), FibError> {
    Errno::check(result).map(drop).map_err(|errno| FibError::Call { call, errno })
}
