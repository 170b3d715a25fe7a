// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Forwarding tables with a default route, of IPv4 and IPv6, as tables and as trees, beside a list of prefixes.

use crate::raw::Usage;
use dpdk_rs::{
    CreateError, Eal,
    lookup::{Fib, Fib6, FibBuilder, FibError},
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::{Ipv4Addr, Ipv6Addr},
};

/// How many routes fit in.
const ROUTES: usize = 20;
const ENOMEM: i32 = 12;

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct HopPlan {
    v6: bool,
    tree: bool,
    /// For prefixes of more than 24 bits, if it is a table. One of IPv6 has four times as many.
    #[proptest(strategy = "1_u32..6")]
    groups: u32,
    /// Entries of 1, 2 or 4 bytes.
    #[proptest(strategy = "prop::sample::select(&[100_u64, 126, 127, 30_000, 1 << 20])")]
    last: u64,
    #[proptest(strategy = "vec(any::<HopDeed>(), 0..80)")]
    deeds: Vec<HopDeed>,
    /// Addresses that are looked up at the end.
    #[proptest(strategy = "vec(any::<u32>(), 0..150)")]
    probes: Vec<u32>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum HopDeed {
    #[proptest(weight = 10)]
    Add {
        address: u32,
        depth: u8,
        #[proptest(strategy = "prop_oneof![6 => 0_u64..4, 2 => 120_u64..130, 1 => any::<u64>()]")]
        hop: u64,
    },
    /// A route that is there, from the front.
    #[proptest(weight = 4)]
    Delete { place: u8 },
    /// Any, which is most probably not there.
    DeleteAny { address: u32, depth: u8 },
}

/// What an IPv4 and an IPv6 table have in common. Addresses of both are the first bits of a number.
trait Table: Sized {
    /// Bits of an address.
    const BITS: u8;
    /// The largest next hops of entries of all sizes.
    const LAST: &[u64];

    fn make(eal: &Eal, builder: FibBuilder<Self>) -> Result<Self, CreateError>;
    fn add(&mut self, prefix: u128, depth: u8, hop: u64) -> Result<(), FibError>;
    fn delete(&mut self, prefix: u128, depth: u8) -> Result<(), FibError>;
    fn rule(&self, prefix: u128, depth: u8) -> Option<u64>;
    fn lookup(&self, address: u128) -> Option<u64>;
    fn lookup_all(&self, addresses: &[u128], hops: &mut [Option<u64>]) -> usize;
    fn count(&self) -> (usize, bool);
    /// An address of which few bits differ from those of others, so that prefixes lie in each other: in the middle, and at
    /// both ends.
    fn address(drawn: u32) -> u128;
    /// All depths, the shortest and those around 24 bits often, and two invalid ones.
    fn depth(drawn: u8) -> u8;
}

/// Does it for a type of tables and one of addresses.
macro_rules! table {
    ($table:ty, $address:ident, $number:ty, $bits:literal, $last:expr, $of_drawn:expr, $depth:expr) => {
        impl Table for $table {
            const BITS: u8 = $bits;
            const LAST: &[u64] = &$last;

            fn make(eal: &Eal, builder: FibBuilder<Self>) -> Result<Self, CreateError> {
                builder.build(eal)
            }

            fn add(&mut self, prefix: u128, depth: u8, hop: u64) -> Result<(), FibError> {
                self.add($address::from_bits((prefix >> (128 - $bits)) as $number), depth, hop)
            }

            fn delete(&mut self, prefix: u128, depth: u8) -> Result<(), FibError> {
                self.delete($address::from_bits((prefix >> (128 - $bits)) as $number), depth)
            }

            fn rule(&self, prefix: u128, depth: u8) -> Option<u64> {
                self.rule($address::from_bits((prefix >> (128 - $bits)) as $number), depth)
            }

            fn lookup(&self, address: u128) -> Option<u64> {
                self.lookup($address::from_bits((address >> (128 - $bits)) as $number))
            }

            fn lookup_all(&self, addresses: &[u128], hops: &mut [Option<u64>]) -> usize {
                let number = |address: &u128| (*address >> (128 - $bits)) as $number;
                let addresses: Vec<_> = addresses.iter().map(number).map($address::from_bits).collect();
                self.lookup_bulk(&addresses, hops)
            }

            fn count(&self) -> (usize, bool) {
                (self.len(), self.is_empty())
            }

            fn address(drawn: u32) -> u128 {
                let of_drawn: fn(u32) -> $number = $of_drawn;
                u128::from(of_drawn(drawn)) << (128 - $bits)
            }

            fn depth(drawn: u8) -> u8 {
                let of_drawn: fn(u8) -> u8 = $depth;
                of_drawn(drawn)
            }
        }
    };
}

table!(
    Fib,
    Ipv4Addr,
    u32,
    32,
    [126, 32_766, (1 << 31) - 2],
    |drawn| match drawn & 0x30_0000 {
        0 => drawn & 0x0000_0187,
        0x10_0000 => !(drawn & 0x8000_0187),
        _ => 0x0a00_0000 | drawn & 0x8001_0387,
    },
    |drawn| match drawn {
        0..70 => drawn % 35,
        70..140 => 22 + drawn % 11,
        _ => drawn % 4,
    }
);

table!(
    Fib6,
    Ipv6Addr,
    u128,
    128,
    [32_766, (1 << 31) - 2],
    |drawn| {
        // Bits within the first 24, in the next groups, and in the last one.
        let [one, two, three, _] = drawn.to_le_bytes();
        let bits = u128::from(one & 1) << 127 | u128::from(two & 3) << 95 | u128::from(three & 7);
        match drawn & 0x30_0000 {
            0 => bits,
            0x10_0000 => !bits,
            _ => 0x2001_0db8 << 96 | bits,
        }
    },
    |drawn| match drawn {
        0..140 => drawn % 131,
        140..220 => [23, 24, 25, 32, 33, 34, 64, 127][usize::from(drawn % 8)],
        _ => drawn % 4,
    }
);

fn prefix(address: u128, depth: u8) -> u128 {
    address & u128::MAX.checked_shl(128 - u32::from(depth.min(128))).unwrap_or(0)
}

/// By prefix and depth.
type Model = BTreeMap<(u128, u8), u64>;

/// The next hop of the longest prefix that matches.
fn longest(model: &Model, address: u128) -> Option<u64> {
    let matching = model.iter().filter(|((first, depth), _)| prefix(address, *depth) == *first);
    matching.max_by_key(|((_, depth), _)| *depth).map(|(_, hop)| *hop)
}

/// Makes a table, and does with it what is planned; false if there is no memory for one.
pub(crate) fn run(eal: &Eal, number: u64, plan: &HopPlan) -> bool {
    let before = Usage::now();
    let name = format!("hops{number}");
    let worked =
        if plan.v6 { make(eal, Fib6::builder(name), plan) } else { make::<Fib>(eal, Fib::builder(name), plan) };
    assert_eq!(Usage::now(), before, "a table that is gone holds memory");
    worked
}

fn make<T: Table>(eal: &Eal, builder: FibBuilder<T>, plan: &HopPlan) -> bool {
    let builder = builder.routes(ROUTES as u32).last_next_hop(plan.last).tbl8s(groups::<T>(plan) as u32);
    match T::make(eal, if plan.tree { builder.tree() } else { builder }) {
        Ok(table) => {
            work(table, plan);
            true
        }
        // Pools may have left too little in one piece.
        Err(CreateError::Create { errno, .. }) if errno.get() == ENOMEM => false,
        Err(error) => panic!("{error}"),
    }
}

fn groups<T: Table>(plan: &HopPlan) -> usize {
    plan.groups as usize * if T::BITS == 32 { 1 } else { 4 }
}

fn work<T: Table>(mut table: T, plan: &HopPlan) {
    let mut model = Model::new();
    for deed in &plan.deeds {
        match *deed {
            HopDeed::Add { address, depth, hop } => {
                let (address, depth) = (T::address(address), T::depth(depth));
                let added = table.add(address, depth, hop);
                let expected = refusal::<T>(&model, plan, address, depth, hop);
                match (&added, expected) {
                    // How many bits an entry has, the table says itself.
                    (Err(FibError::NextHop { next_hop, last }), None) => assert!(*next_hop == hop && hop > *last),
                    (Err(error), Some(expected)) => assert_eq!(*error, expected),
                    (Ok(()), None) => drop(model.insert((prefix(address, depth), depth), hop)),
                    (result, expected) => panic!("{result:?} in place of {expected:?}"),
                }
                if let Err(FibError::NextHop { last, .. }) = added {
                    assert!(last >= plan.last);
                }
            }
            HopDeed::Delete { place } => {
                let place = usize::from(place).checked_rem(model.len());
                if let Some((first, depth)) = place.and_then(|place| model.keys().nth(place).copied()) {
                    assert_eq!(table.delete(first, depth), Ok(()));
                    model.remove(&(first, depth));
                }
            }
            HopDeed::DeleteAny { address, depth } => {
                let (address, depth) = (T::address(address), T::depth(depth));
                let expected = match (depth > T::BITS, model.remove(&(prefix(address, depth), depth))) {
                    (true, _) => Err(FibError::Depth { depth, longest: T::BITS }),
                    (false, Some(_)) => Ok(()),
                    (false, None) => Err(FibError::Missing),
                };
                assert_eq!(table.delete(address, depth), expected);
            }
        }
        assert_eq!(table.count(), (model.len(), model.is_empty()));
    }
    compare(&table, &model, &plan.probes);
}

/// The groups that a prefix is looked up in: one for its first 24 bits, and one for each further 8 of which there are more.
fn groups_of((first, depth): (u128, u8)) -> impl Iterator<Item = (u8, u128)> {
    (24..depth).step_by(8).map(move |bits| (bits, prefix(first, bits)))
}

/// Why a route should be refused; of a next hop only if it is larger than any that fits.
fn refusal<T: Table>(model: &Model, plan: &HopPlan, address: u128, depth: u8, hop: u64) -> Option<FibError> {
    let key = (prefix(address, depth), depth);
    let most = groups::<T>(plan);
    let places = if plan.tree { 0 } else { most as u64 + 2 };
    let last = T::LAST.iter().copied().find(|last| plan.last <= *last && places <= last + 1)?;
    let begun: BTreeSet<(u8, u128)> = model.keys().copied().flat_map(groups_of).collect();
    let missing = groups_of(key).filter(|group| !plan.tree && !begun.contains(group)).count();
    match model.get(&key) {
        _ if depth > T::BITS => Some(FibError::Depth { depth, longest: T::BITS }),
        _ if hop > last => Some(FibError::NextHop { next_hop: hop, last }),
        Some(_) => None,
        None if model.len() == ROUTES => Some(FibError::Routes(ROUTES as u32)),
        None if missing > 0 && begun.len() + missing > most => Some(FibError::Groups(most as u32)),
        None => None,
    }
}

fn compare<T: Table>(table: &T, model: &Model, probes: &[u32]) {
    for ((first, depth), hop) in model {
        assert_eq!(table.rule(*first, *depth), Some(*hop), "{first:x}/{depth}");
    }
    // Also the addresses of the routes themselves, and those behind their ends.
    let edges = model.keys().flat_map(|(first, depth)| {
        let size = 1_u128.checked_shl(128 - u32::from(*depth)).unwrap_or(0);
        [*first, first.wrapping_add(size), first.wrapping_add(size).wrapping_sub(1)]
    });
    let addresses: Vec<u128> = edges.chain(probes.iter().map(|drawn| T::address(*drawn))).collect();
    let mut hops = vec![None; addresses.len()];
    let hits = table.lookup_all(&addresses, &mut hops);
    assert_eq!(hops.iter().flatten().count(), hits);
    for (address, hop) in addresses.into_iter().zip(hops) {
        let expected = longest(model, address);
        assert_eq!((hop, table.lookup(address)), (expected, expected), "{address:x}");
    }
}
