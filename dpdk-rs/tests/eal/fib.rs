// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! FIBs, compared with a map of routes.

use crate::{lookups::Numbers, process::isolated};
use dpdk_rs::{
    CreateError,
    lookup::{Fib, FibBuilder, FibError},
};
use std::{collections::BTreeMap, net::Ipv4Addr};

/// By depth and prefix.
type Routes = BTreeMap<(u8, u32), u64>;

fn mask(depth: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(depth)).unwrap_or(0)
}

fn longest(routes: &Routes, address: u32) -> Option<u64> {
    (0..=32).rev().find_map(|depth| routes.get(&(depth, address & mask(depth))).copied())
}

/// Addresses around the edges of all routes.
fn edges(routes: &Routes) -> Vec<Ipv4Addr> {
    let edges = routes.keys().flat_map(|(depth, prefix)| {
        let last = prefix | !mask(*depth);
        [*prefix, prefix.wrapping_sub(1), last, last.wrapping_add(1), prefix.midpoint(last)]
    });
    edges.chain([0, u32::MAX]).map(Ipv4Addr::from_bits).collect()
}

fn compare(fib: &Fib, routes: &Routes) {
    let addresses = edges(routes);
    let mut next_hops = vec![Some(7); addresses.len()];
    let expected: Vec<_> = addresses.iter().map(|address| longest(routes, address.to_bits())).collect();
    assert_eq!(fib.lookup_bulk(&addresses, &mut next_hops), expected.iter().flatten().count());
    for ((address, found), expected) in addresses.iter().zip(next_hops).zip(expected) {
        assert_eq!(found, expected, "{address} of {routes:x?}");
    }
    assert_eq!((fib.len(), fib.is_empty()), (routes.len(), routes.is_empty()));
}

/// All but entries of 8 bytes, for which there is no memory.
fn kinds() -> [(FibBuilder, u64); 4] {
    let builder = |last| Fib::builder(format!("to {last}")).routes(64).tbl8s(6).last_next_hop(last);
    let [short, middle, long] = [126, 32_766, (1 << 31) - 2].map(|last| (builder(last), last));
    [short, middle, long, (Fib::builder("tree").routes(64).tree(), (1 << 31) - 2)]
}

/// Few prefixes, which lie in each other, at both ends of all addresses and around the ends of groups.
fn prefix(numbers: &mut Numbers) -> (u8, u32) {
    // The first ones are slow: they change up to 2^24 entries.
    let depths = [0, 1, 2, 3, 8, 9, 16, 23, 24, 25, 26, 30, 31, 32];
    let places =
        [0, 1, 0x0a00_0000, 0x0a00_00ff, 0x0a00_0100, 0x0a00_0180, 0xc0a8_0000, 0xc000_0000, 0xffff_ff00, u32::MAX];
    let depth = if numbers.below(24) == 0 { depths[numbers.below(4)] } else { depths[4 + numbers.below(10)] };
    (depth, places[numbers.below(places.len())] & mask(depth))
}

#[test]
fn fib_finds_the_longest_prefix() {
    isolated(&[], |eal| {
        let mut numbers = Numbers(5);
        for (builder, last) in kinds() {
            let mut fib = builder.build(&eal).unwrap();
            let mut routes = Routes::new();
            compare(&fib, &routes);
            for _ in 0..500 {
                let (depth, ip) = prefix(&mut numbers);
                // Bits behind the prefix do not count.
                let address = Ipv4Addr::from_bits(ip | numbers.next() as u32 & !mask(depth));
                let known = routes.get(&(depth, ip)).copied();
                assert_eq!(fib.rule(address, depth), known);
                if numbers.below(5) < 2 {
                    let expected = routes.remove(&(depth, ip)).map(drop).ok_or(FibError::Missing);
                    assert_eq!(fib.delete(address, depth), expected);
                } else {
                    // Often the next hop of a prefix around it.
                    let next_hop = [0, 1, last - 1, last][numbers.below(4)];
                    match fib.add(address, depth, next_hop) {
                        Ok(()) => drop(routes.insert((depth, ip), next_hop)),
                        Err(error) => assert_eq!((error, known), (FibError::Groups(6), None)),
                    }
                }
                compare(&fib, &routes);
            }
            assert!(routes.len() > 10);
            for (depth, ip) in routes.into_keys() {
                fib.delete(Ipv4Addr::from_bits(ip), depth).unwrap();
            }
            compare(&fib, &Routes::new());
        }
    });
}

/// What DPDK itself would answer with the wrong routes.
#[test]
fn routes_to_the_last_address_leave_the_others_alone() {
    isolated(&[], |eal| {
        let mut fib = Fib::builder("fib").last_next_hop(126).tbl8s(8).build(&eal).unwrap();
        let (low, high) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::new(128, 0, 0, 0));
        fib.add(low, 1, 1).unwrap();
        fib.add(high, 1, 2).unwrap();
        fib.add(low, 0, 3).unwrap();
        assert_eq!((fib.lookup(low), fib.lookup(high)), (Some(1), Some(2)));
        // The group of a route that says what the prefix around it says counts too.
        let mut fib = Fib::builder("small").last_next_hop(126).tbl8s(1).build(&eal).unwrap();
        let place = Ipv4Addr::new(10, 0, 0, 0);
        fib.add(place, 8, 1).unwrap();
        for _ in 0..3 {
            fib.add(place, 25, 1).unwrap();
            assert_eq!(fib.add(Ipv4Addr::new(11, 0, 0, 0), 25, 1), Err(FibError::Groups(1)));
            fib.delete(place, 25).unwrap();
        }
        fib.add(place, 25, 2).unwrap();
        assert_eq!((fib.lookup(place), fib.len()), (Some(2), 2));
    });
}

#[test]
fn fib_says_what_is_wrong() {
    isolated(&[], |eal| {
        let build = |builder: FibBuilder| builder.build(&eal).map(drop).unwrap_err();
        let mut fib = Fib::builder("fib").routes(2).last_next_hop(100).tbl8s(7).build(&eal).unwrap();
        let place = Ipv4Addr::new(10, 0, 0, 0);
        assert_eq!(fib.add(place, 33, 1), Err(FibError::Depth(33)));
        assert_eq!((fib.delete(place, 33), fib.rule(place, 33)), (Err(FibError::Depth(33)), None));
        assert_eq!(fib.add(place, 8, 127), Err(FibError::NextHop { next_hop: 127, last: 126 }));
        fib.add(place, 8, 126).unwrap();
        fib.add(place, 9, 1).unwrap();
        fib.add(place, 9, 2).unwrap();
        assert_eq!(fib.add(place, 10, 1), Err(FibError::Routes(2)));
        let again = build(Fib::builder("fib"));
        assert_eq!(again.errno().map(|errno| errno.get()), Some(17), "{again}");
        assert!(matches!(build(Fib::builder("a name that is too long")), CreateError::Name { longest: 22, .. }));
        assert!(matches!(build(Fib::builder("routes").routes(u32::MAX)), CreateError::TooLarge { .. }));
        assert!(matches!(build(Fib::builder("groups").tbl8s(u32::MAX)), CreateError::TooLarge { .. }));
        assert_eq!(build(Fib::builder("none").routes(0)).errno().map(|errno| errno.get()), Some(22));
        assert_eq!(build(Fib::builder("bits").last_next_hop(u64::MAX)).errno().map(|errno| errno.get()), Some(22));
        drop(fib);
        Fib::builder("fib").tree().build(&eal).unwrap();
    });
}
