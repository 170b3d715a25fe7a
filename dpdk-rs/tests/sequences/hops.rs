// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Forwarding tables with a default route, as tables and as trees, beside a list of prefixes.

use crate::raw::Usage;
use dpdk_rs::{
    CreateError, Eal,
    lookup::{Fib, FibError},
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::{
    collections::{BTreeMap, BTreeSet},
    net::Ipv4Addr,
};

/// How many routes fit in.
const ROUTES: usize = 20;
const ENOMEM: i32 = 12;

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct HopPlan {
    tree: bool,
    /// For prefixes of more than 24 bits, if it is a table.
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

/// An address of which few bits differ from those of others, so that prefixes lie in each other: in the middle, and at both ends.
fn address(drawn: u32) -> u32 {
    match drawn & 0x30_0000 {
        0 => drawn & 0x0000_0187,
        0x10_0000 => !(drawn & 0x8000_0187),
        _ => 0x0a00_0000 | drawn & 0x8001_0387,
    }
}

/// All depths, the shortest and those around 24 bits often, and two invalid ones.
fn depth(drawn: u8) -> u8 {
    match drawn {
        0..70 => drawn % 35,
        70..140 => 22 + drawn % 11,
        _ => drawn % 4,
    }
}

fn prefix(address: u32, depth: u8) -> u32 {
    let behind = 32 - u32::from(depth.min(32));
    address.checked_shr(behind).unwrap_or(0).checked_shl(behind).unwrap_or(0)
}

/// By prefix and depth.
type Model = BTreeMap<(u32, u8), u64>;

/// The next hop of the longest prefix that matches.
fn longest(model: &Model, address: u32) -> Option<u64> {
    let matching = model.iter().filter(|((first, depth), _)| prefix(address, *depth) == *first);
    matching.max_by_key(|((_, depth), _)| *depth).map(|(_, hop)| *hop)
}

/// Makes a table, and does with it what is planned; false if there is no memory for one.
pub(crate) fn run(eal: &Eal, number: u64, plan: &HopPlan) -> bool {
    let before = Usage::now();
    let builder =
        Fib::builder(format!("hops{number}")).routes(ROUTES as u32).last_next_hop(plan.last).tbl8s(plan.groups);
    let made = if plan.tree { builder.tree() } else { builder }.build(eal);
    let worked = match made {
        Ok(table) => {
            work(table, plan);
            true
        }
        // Pools may have left too little in one piece.
        Err(CreateError::Create { errno, .. }) if errno.get() == ENOMEM => false,
        Err(error) => panic!("{error}"),
    };
    assert_eq!(Usage::now(), before, "a table that is gone holds memory");
    worked
}

fn work(mut table: Fib, plan: &HopPlan) {
    let mut model = Model::new();
    for deed in &plan.deeds {
        match *deed {
            HopDeed::Add { address: drawn, depth: drawn_depth, hop } => {
                let (address, depth) = (address(drawn), depth(drawn_depth));
                let added = table.add(Ipv4Addr::from_bits(address), depth, hop);
                let expected = refusal(&model, plan, address, depth, hop);
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
                    assert_eq!(table.delete(Ipv4Addr::from_bits(first), depth), Ok(()));
                    model.remove(&(first, depth));
                }
            }
            HopDeed::DeleteAny { address: drawn, depth: drawn_depth } => {
                let (address, depth) = (address(drawn), depth(drawn_depth));
                let expected = match (depth, model.remove(&(prefix(address, depth), depth))) {
                    (33.., _) => Err(FibError::Depth { depth, longest: 32 }),
                    (_, Some(_)) => Ok(()),
                    (_, None) => Err(FibError::Missing),
                };
                assert_eq!(table.delete(Ipv4Addr::from_bits(address), depth), expected);
            }
        }
        assert_eq!((table.len(), table.is_empty()), (model.len(), model.is_empty()));
    }
    compare(&table, &model, &plan.probes);
}

/// Why a route should be refused; of a next hop only if it is larger than any that fits.
fn refusal(model: &Model, plan: &HopPlan, address: u32, depth: u8, hop: u64) -> Option<FibError> {
    let key = (prefix(address, depth), depth);
    // The largest of entries of 1, 2 and 4 bytes.
    let groups = if plan.tree { 0 } else { u64::from(plan.groups) + 2 };
    let last = [126, 32_766, (1 << 31) - 2].into_iter().find(|last| plan.last <= *last && groups <= last + 1)?;
    let begun: BTreeSet<u32> = model.keys().filter(|(_, depth)| *depth > 24).map(|(first, _)| first >> 8).collect();
    let needs_group = !plan.tree && depth > 24 && !begun.contains(&(key.0 >> 8));
    match model.get(&key) {
        _ if depth > 32 => Some(FibError::Depth { depth, longest: 32 }),
        _ if hop > last => Some(FibError::NextHop { next_hop: hop, last }),
        Some(_) => None,
        None if model.len() == ROUTES => Some(FibError::Routes(ROUTES as u32)),
        None if needs_group && begun.len() == plan.groups as usize => Some(FibError::Groups(plan.groups)),
        None => None,
    }
}

fn compare(table: &Fib, model: &Model, probes: &[u32]) {
    for ((first, depth), hop) in model {
        assert_eq!(table.rule(Ipv4Addr::from_bits(*first), *depth), Some(*hop), "{first:x}/{depth}");
    }
    // Also the addresses of the routes themselves, and those behind their ends.
    let edges = model.keys().flat_map(|(first, depth)| {
        let size = 1_u32.checked_shl(32 - u32::from(*depth)).unwrap_or(0);
        [*first, first.wrapping_add(size), first.wrapping_add(size).wrapping_sub(1)]
    });
    let addresses: Vec<u32> = edges.chain(probes.iter().map(|drawn| address(*drawn))).collect();
    let asked: Vec<Ipv4Addr> = addresses.iter().copied().map(Ipv4Addr::from_bits).collect();
    let mut hops = vec![None; asked.len()];
    let hits = table.lookup_bulk(&asked, &mut hops);
    assert_eq!(hops.iter().flatten().count(), hits);
    for (address, hop) in addresses.into_iter().zip(hops) {
        let expected = longest(model, address);
        assert_eq!((hop, table.lookup(Ipv4Addr::from_bits(address))), (expected, expected), "{address:x}");
    }
}
