// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Tables of routes, beside a list of prefixes of which the longest is looked for one by one.

use crate::raw::Usage;
use dpdk_rs::{
    CreateError, Eal,
    lookup::{Lpm, Lpm6, LpmError},
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::{
    collections::BTreeMap,
    net::{Ipv4Addr, Ipv6Addr},
};

/// How many routes fit in.
const RULES: usize = 24;
const ENOSPC: i32 = 28;
const ENOMEM: i32 = 12;

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct RoutePlan {
    v6: bool,
    #[proptest(strategy = "vec(any::<RouteDeed>(), 0..80)")]
    deeds: Vec<RouteDeed>,
    /// Addresses that are looked up at the end.
    #[proptest(strategy = "vec(any::<u32>(), 0..150)")]
    probes: Vec<u32>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum RouteDeed {
    #[proptest(weight = 8)]
    Add {
        address: u32,
        depth: u8,
        #[proptest(strategy = "prop_oneof![6 => 0_u32..1 << 21, 1 => any::<u32>()]")]
        next_hop: u32,
    },
    /// A route that is there, from the front.
    #[proptest(weight = 3)]
    Delete {
        place: u8,
    },
    /// Any, which is most probably not there.
    DeleteAny {
        address: u32,
        depth: u8,
    },
    Clear,
}

/// What an IPv4 and an IPv6 table have in common.
trait Table {
    /// Bits of an address, and the largest next hop.
    const BITS: u8;
    const LAST: u32;

    fn add(&mut self, prefix: u128, depth: u8, next_hop: u32) -> Result<(), LpmError>;
    fn delete(&mut self, prefix: u128, depth: u8) -> Result<(), LpmError>;
    fn clear(&mut self);
    fn rule(&self, prefix: u128, depth: u8) -> Option<u32>;
    fn lookup(&self, address: u128) -> Option<u32>;
    fn lookup_all(&self, addresses: &[u128], next_hops: &mut [Option<u32>]) -> usize;
}

/// Does it for a type of tables and one of addresses.
macro_rules! table {
    ($table:ty, $address:ident, $number:ty, $bits:literal, $hop_bits:literal) => {
        impl Table for $table {
            const BITS: u8 = $bits;
            const LAST: u32 = (1 << $hop_bits) - 1;

            fn add(&mut self, prefix: u128, depth: u8, next_hop: u32) -> Result<(), LpmError> {
                self.add($address::from_bits(prefix as $number), depth, next_hop)
            }

            fn delete(&mut self, prefix: u128, depth: u8) -> Result<(), LpmError> {
                self.delete($address::from_bits(prefix as $number), depth)
            }

            fn clear(&mut self) {
                self.clear();
            }

            fn rule(&self, prefix: u128, depth: u8) -> Option<u32> {
                self.rule($address::from_bits(prefix as $number), depth)
            }

            fn lookup(&self, address: u128) -> Option<u32> {
                self.lookup($address::from_bits(address as $number))
            }

            fn lookup_all(&self, addresses: &[u128], next_hops: &mut [Option<u32>]) -> usize {
                let addresses: Vec<_> =
                    addresses.iter().map(|address| $address::from_bits(*address as $number)).collect();
                self.lookup_bulk(&addresses, next_hops)
            }
        }
    };
}

table!(Lpm, Ipv4Addr, u32, 32, 24);
table!(Lpm6, Ipv6Addr, u128, 128, 21);

/// Makes a table, and does with it what is planned; false if there is no memory for one.
pub(crate) fn run(eal: &Eal, number: u64, plan: &RoutePlan) -> bool {
    let before = Usage::now();
    let name = format!("routes{number}");
    let made = if plan.v6 {
        // Each prefix needs at most 13 groups.
        Lpm6::builder(name).rules(RULES as u32).tbl8s(RULES as u32 * 13).build(eal).map(|table| work(table, plan))
    } else {
        Lpm::builder(name).rules(RULES as u32).tbl8s(RULES as u32).build(eal).map(|table| work(table, plan))
    };
    match made {
        Ok(()) => (),
        // Pools may have left no 64 MiB in one piece.
        Err(CreateError::Create { errno, .. }) if errno.get() == ENOMEM => (),
        Err(ref error) => panic!("{error}"),
    }
    assert_eq!(Usage::now(), before, "a table that is gone holds memory");
    made.is_ok()
}

/// The prefix of an address.
fn prefix<T: Table>(address: u128, depth: u8) -> u128 {
    let behind = u32::from(T::BITS - depth.min(T::BITS));
    address.checked_shr(behind).unwrap_or(0).checked_shl(behind).unwrap_or(0)
}

/// An address of which few bits differ from those of others, so that prefixes lie in each other.
fn address<T: Table>(drawn: u32) -> u128 {
    if T::BITS == 32 {
        u128::from(0x0a00_0000 | drawn & 0x8001_0307)
    } else {
        let [one, two, three, _] = drawn.to_le_bytes();
        0x2001_0db8 << 96 | u128::from(one & 1) << 90 | u128::from(two & 3) << 47 | u128::from(three & 7)
    }
}

fn work<T: Table>(mut table: T, plan: &RoutePlan) {
    let mut model: BTreeMap<(u128, u8), u32> = BTreeMap::new();
    for deed in &plan.deeds {
        match *deed {
            RouteDeed::Add { address: drawn, depth, next_hop } => {
                // All depths, and two invalid ones.
                let (address, depth) = (address::<T>(drawn), depth % (T::BITS + 2));
                let key = (prefix::<T>(address, depth), depth);
                let full = model.len() == RULES && !model.contains_key(&key);
                let result = table.add(address, depth, next_hop);
                if depth == 0 || depth > T::BITS {
                    assert_eq!(result, Err(LpmError::Depth { depth, longest: T::BITS }));
                } else if next_hop > T::LAST {
                    assert_eq!(result, Err(LpmError::NextHop { next_hop, last: T::LAST }));
                } else if full {
                    assert_eq!(result.unwrap_err().errno().map(|errno| errno.get()), Some(ENOSPC));
                } else {
                    assert_eq!(result, Ok(()), "{} routes", model.len());
                    model.insert(key, next_hop);
                }
            }
            RouteDeed::Delete { place } => {
                let place = usize::from(place).checked_rem(model.len());
                if let Some((prefix, depth)) = place.and_then(|place| model.keys().nth(place).copied()) {
                    assert_eq!(table.delete(prefix, depth), Ok(()));
                    model.remove(&(prefix, depth));
                }
            }
            RouteDeed::DeleteAny { address: drawn, depth } => {
                let (address, depth) = (address::<T>(drawn), depth % T::BITS + 1);
                let there = model.remove(&(prefix::<T>(address, depth), depth)).is_some();
                assert_eq!(table.delete(address, depth).is_ok(), there);
            }
            RouteDeed::Clear => {
                table.clear();
                model.clear();
            }
        }
    }
    for ((prefix, depth), next_hop) in &model {
        assert_eq!(table.rule(*prefix, *depth), Some(*next_hop), "{prefix:x}/{depth}");
    }
    // Also the addresses of the routes themselves, and those behind their ends.
    let edges = model.keys().flat_map(|(prefix, depth)| {
        let size = 1_u128.checked_shl(u32::from(T::BITS - depth)).unwrap_or(0);
        [*prefix, prefix.wrapping_add(size), prefix.wrapping_add(size).wrapping_sub(1)]
    });
    let last = u128::MAX >> (128 - T::BITS);
    let drawn = plan.probes.iter().map(|drawn| address::<T>(*drawn));
    let addresses: Vec<u128> = edges.chain(drawn).map(|address| address & last).collect();
    let mut next_hops = vec![None; addresses.len()];
    let hits = table.lookup_all(&addresses, &mut next_hops);
    assert_eq!(next_hops.iter().flatten().count(), hits);
    for (address, next_hop) in addresses.into_iter().zip(next_hops) {
        let matching = model.iter().filter(|((prefix, depth), _)| self::prefix::<T>(address, *depth) == *prefix);
        let longest = matching.max_by_key(|((_, depth), _)| *depth).map(|(_, next_hop)| *next_hop);
        assert_eq!((next_hop, table.lookup(address)), (longest, longest), "{address:x}");
    }
}
