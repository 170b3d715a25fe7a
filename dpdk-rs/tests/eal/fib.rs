// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! FIBs, compared with a map of routes.

use crate::{numbers::Numbers, process::isolated};
use dpdk_rs::{
    CreateError, Eal,
    lookup::{Fib, Fib6, FibBuilder, FibError},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    net::{Ipv4Addr, Ipv6Addr},
};

/// By depth and prefix. Addresses of both kinds are the first bits of a number.
type Routes = BTreeMap<(u8, u128), u64>;

/// The operations that tables of both kinds have in common.
trait Table: Sized {
    const BITS: u8;
    /// Some depths, of which the first four change up to 2^24 entries.
    const DEPTHS: &[u8];
    const PLACES: &[u128];
    const GROUPS: u32;

    fn build(builder: FibBuilder<Self>, eal: &Eal) -> Self;
    fn builder(name: &str) -> FibBuilder<Self>;
    fn add(&mut self, prefix: u128, depth: u8, next_hop: u64) -> Result<(), FibError>;
    fn delete(&mut self, prefix: u128, depth: u8) -> Result<(), FibError>;
    fn rule(&self, prefix: u128, depth: u8) -> Option<u64>;
    fn lookup(&self, address: u128) -> Option<u64>;
    fn lookup_all(&self, addresses: &[u128], next_hops: &mut [Option<u64>]) -> usize;
    fn count(&self) -> (usize, bool);
}

macro_rules! table {
    ($table:ty, $from:expr, $bits:literal, $groups:literal, $depths:expr, $places:expr) => {
        impl Table for $table {
            const BITS: u8 = $bits;
            const DEPTHS: &[u8] = &$depths;
            const PLACES: &[u128] = &$places;
            const GROUPS: u32 = $groups;

            fn build(builder: FibBuilder<Self>, eal: &Eal) -> Self {
                builder.build(eal).unwrap()
            }

            fn builder(name: &str) -> FibBuilder<Self> {
                <$table>::builder(name).routes(512).tbl8s($groups)
            }

            fn add(&mut self, prefix: u128, depth: u8, next_hop: u64) -> Result<(), FibError> {
                self.add($from(prefix), depth, next_hop)
            }

            fn delete(&mut self, prefix: u128, depth: u8) -> Result<(), FibError> {
                self.delete($from(prefix), depth)
            }

            fn rule(&self, prefix: u128, depth: u8) -> Option<u64> {
                self.rule($from(prefix), depth)
            }

            fn lookup(&self, address: u128) -> Option<u64> {
                self.lookup($from(address))
            }

            fn lookup_all(&self, addresses: &[u128], next_hops: &mut [Option<u64>]) -> usize {
                let addresses: Vec<_> = addresses.iter().copied().map($from).collect();
                self.lookup_bulk(&addresses, next_hops)
            }

            fn count(&self) -> (usize, bool) {
                (self.len(), self.is_empty())
            }
        }
    };
}

fn v4(bits: u128) -> Ipv4Addr {
    Ipv4Addr::from_bits((bits >> 96) as u32)
}

// Few prefixes, which overlap, at both ends of the address range and around the ends of groups.
table!(
    Fib,
    v4,
    32,
    4,
    [0, 1, 2, 3, 8, 9, 16, 23, 24, 25, 26, 30, 31, 32],
    [
        0,
        1 << 96,
        0x0a00_0000 << 96,
        0x0a00_00ff << 96,
        0x0a00_0100 << 96,
        0x0a00_0180 << 96,
        0xc0a8_0000 << 96,
        0xc000_0000 << 96,
        0xffff_ff00 << 96,
        u128::MAX
    ]
);

table!(
    Fib6,
    Ipv6Addr::from_bits,
    128,
    30,
    [
        0, 1, 2, 3, 8, 9, 16, 23, 24, 25, 28, 31, 32, 33, 40, 47, 48, 49, 56, 60, 63, 64, 65, 72, 96, 119, 120, 121,
        126, 127, 128
    ],
    [
        0,
        1,
        0x2001_0db8 << 96,
        0x2001_0db8 << 96 | 0xff << 88,
        0x2001_0db8 << 96 | 1 << 64,
        0x2001_0db8 << 96 | 0xffff << 64,
        0x2001_0db8 << 96 | 0xffff_ffff << 64,
        0x2001_0db9 << 96,
        0x2001_0dff << 96,
        0xc000 << 112,
        0xfe80 << 112,
        u128::MAX << 64,
        u128::MAX - 1,
        u128::MAX
    ]
);

fn mask(depth: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(depth)).unwrap_or(0)
}

fn longest<T: Table>(routes: &Routes, address: u128) -> Option<u64> {
    T::DEPTHS.iter().rev().find_map(|depth| routes.get(&(*depth, address & mask(*depth))).copied())
}

/// How many groups the routes need, with one more.
fn groups(routes: &Routes, more: (u8, u128)) -> usize {
    let all = routes.keys().copied().chain([more]);
    let needed = all.flat_map(|(depth, prefix)| {
        [24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120]
            .into_iter()
            .filter(move |bits| *bits < depth)
            .map(move |bits| (bits, prefix & mask(bits)))
    });
    needed.collect::<BTreeSet<_>>().len()
}

/// Addresses around the edges of all routes.
fn edges<T: Table>(routes: &Routes) -> Vec<u128> {
    let one = 1_u128 << (128 - u32::from(T::BITS));
    let edges = routes.keys().flat_map(|(depth, prefix)| {
        let last = (prefix | !mask(*depth)) & mask(T::BITS);
        [*prefix, prefix.wrapping_sub(one), last, last.wrapping_add(one), prefix.midpoint(last) & mask(T::BITS)]
    });
    edges.chain([0, mask(T::BITS)]).collect()
}

fn compare<T: Table>(fib: &T, routes: &Routes) {
    let addresses = edges::<T>(routes);
    let mut next_hops = vec![Some(7); addresses.len()];
    let expected: Vec<_> = addresses.iter().map(|address| longest::<T>(routes, *address)).collect();
    assert_eq!(fib.lookup_all(&addresses, &mut next_hops), expected.iter().flatten().count());
    for ((address, found), expected) in addresses.iter().zip(next_hops).zip(expected) {
        assert_eq!((found, fib.lookup(*address)), (expected, expected), "{address:x} of {routes:x?}");
    }
    assert_eq!(fib.count(), (routes.len(), routes.is_empty()));
}

fn prefix<T: Table>(numbers: &mut Numbers) -> (u8, u128) {
    let rest = T::DEPTHS.len() - 4;
    let place = if numbers.below(24) == 0 { numbers.below(4) } else { 4 + numbers.below(rest) };
    let depth = T::DEPTHS[place];
    (depth, T::PLACES[numbers.below(T::PLACES.len())] & mask(depth))
}

/// Changes routes at random. A table has groups for as many routes as need them, at once and one after the other.
fn change_and_compare<T: Table>(mut fib: T, last: u64, has_groups: bool, numbers: &mut Numbers) {
    let mut routes = Routes::new();
    let mut refused = 0;
    compare(&fib, &routes);
    for _ in 0..250 {
        let (depth, ip) = prefix::<T>(numbers);
        // The bits after the prefix are ignored.
        let address = ip | (u128::from(numbers.next()) << 64 | u128::from(numbers.next())) & !mask(depth);
        let known = routes.get(&(depth, ip)).copied();
        assert_eq!(fib.rule(address, depth), known);
        if numbers.below(5) < 2 {
            let expected = routes.remove(&(depth, ip)).map(drop).ok_or(FibError::Missing);
            assert_eq!(fib.delete(address, depth), expected);
        } else {
            // Often the next hop of the prefix around it.
            let next_hop = [0, 1, last - 1, last][numbers.below(4)];
            let full = has_groups && depth > 24 && known.is_none() && groups(&routes, (depth, ip)) > T::GROUPS as usize;
            let expected = if full { Err(FibError::Groups(T::GROUPS)) } else { Ok(()) };
            assert_eq!(fib.add(address, depth, next_hop), expected, "{ip:x}/{depth} to {routes:x?}");
            refused += u32::from(full);
            if !full {
                routes.insert((depth, ip), next_hop);
            }
        }
        compare(&fib, &routes);
    }
    assert!(routes.len() > 10);
    assert!(!has_groups || refused > 3, "{refused}");
    for (depth, ip) in routes.into_keys() {
        fib.delete(ip, depth).unwrap();
    }
    compare(&fib, &Routes::new());
}

/// All sizes of entries except 8 bytes, for which there is too little memory.
fn change_all_kinds<T: Table>(eal: &Eal) {
    let mut numbers = Numbers(5);
    for last in [126, 32_766, (1 << 31) - 2].into_iter().filter(|last| T::BITS == 32 || *last > 126) {
        let fib = T::build(T::builder(&format!("to {last}")).last_next_hop(last), eal);
        change_and_compare(fib, last, true, &mut numbers);
    }
    change_and_compare(T::build(T::builder("tree").tree(), eal), (1 << 31) - 2, false, &mut numbers);
}

#[test]
fn fib_finds_the_longest_prefix() {
    isolated(&[], |eal| change_all_kinds::<Fib>(&eal));
}

#[test]
fn fib6_finds_the_longest_prefix() {
    isolated(&[], |eal| change_all_kinds::<Fib6>(&eal));
}

/// DPDK reserves groups for each added route, and does not release all of them.
#[test]
fn routes_that_come_and_go_leave_their_groups() {
    isolated(&[], |eal| {
        let builder = Fib6::builder("few").last_next_hop(32_766).tbl8s(13);
        let mut fib = builder.build(&eal).unwrap();
        let place: Ipv6Addr = "2001:db8::".parse().unwrap();
        for round in 0..40 {
            // Including routes with the next hop of the prefix around them.
            fib.add(place, 32, round % 2).unwrap();
            fib.add(place, 28, 0).unwrap();
            fib.add(place, 128, 1).unwrap();
            fib.add(Ipv6Addr::from_bits(place.to_bits() + 1), 128, 2).unwrap();
            let other: Ipv6Addr = "3000::".parse().unwrap();
            assert_eq!(fib.add(other, 25, 1), Err(FibError::Groups(13)));
            assert_eq!((fib.lookup(place), fib.lookup(other), fib.len()), (Some(1), None, 4));
            fib.delete(place, 32).unwrap();
            fib.delete(place, 128).unwrap();
            fib.delete(Ipv6Addr::from_bits(place.to_bits() + 1), 128).unwrap();
            fib.delete(place, 28).unwrap();
        }
    });
}

/// Cases in which DPDK itself would corrupt the routes.
#[test]
fn routes_to_the_last_address_leave_the_others_alone() {
    isolated(&[], |eal| {
        let mut fib = Fib::builder("fib").last_next_hop(126).tbl8s(8).build(&eal).unwrap();
        let (low, high) = (Ipv4Addr::UNSPECIFIED, Ipv4Addr::new(128, 0, 0, 0));
        fib.add(low, 1, 1).unwrap();
        fib.add(high, 1, 2).unwrap();
        fib.add(low, 0, 3).unwrap();
        assert_eq!((fib.lookup(low), fib.lookup(high)), (Some(1), Some(2)));
        let mut fib = Fib6::builder("fib6").last_next_hop(32_766).build(&eal).unwrap();
        let (low, high) = (Ipv6Addr::UNSPECIFIED, Ipv6Addr::from_bits(1 << 127));
        fib.add(low, 1, 1).unwrap();
        fib.add(high, 1, 2).unwrap();
        fib.add(low, 0, 3).unwrap();
        assert_eq!((fib.lookup(low), fib.lookup(high)), (Some(1), Some(2)));
        // The group of a route with the same next hop as the prefix around it counts too.
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

/// DPDK 22.11 treats the end of the address range, 0, as an address in the first group if a route ends there, and then
/// writes no default route.
#[test]
fn a_default_route_reaches_behind_the_routes_of_the_first_addresses() {
    isolated(&[], |eal| {
        let mut fib = Fib::builder("fib").last_next_hop(126).tbl8s(8).build(&eal).unwrap();
        let first = Ipv4Addr::UNSPECIFIED;
        let there = [1, 200, 0x0a00_0001, u32::MAX].map(Ipv4Addr::from_bits);
        fib.add(first, 25, 1).unwrap();
        fib.add(first, 32, 4).unwrap();
        for default in [2, 3] {
            fib.add(first, 0, default).unwrap();
            let some = Some(default);
            assert_eq!(there.map(|address| fib.lookup(address)), [Some(1), some, some, some]);
        }
        fib.delete(first, 0).unwrap();
        assert_eq!(there.map(|address| fib.lookup(address)), [Some(1), None, None, None]);
        assert_eq!((fib.lookup(first), fib.len()), (Some(4), 2));
    });
}

#[test]
fn fib_says_what_is_wrong() {
    isolated(&[], |eal| {
        let build = |builder: FibBuilder| builder.build(&eal).map(drop).unwrap_err();
        let mut fib = Fib::builder("fib").routes(2).last_next_hop(100).tbl8s(7).build(&eal).unwrap();
        let place = Ipv4Addr::new(10, 0, 0, 0);
        let depth = FibError::Depth { depth: 33, longest: 32 };
        assert_eq!(fib.add(place, 33, 1), Err(depth));
        assert_eq!((fib.delete(place, 33), fib.rule(place, 33)), (Err(depth), None));
        assert_eq!(fib.add(place, 8, 127), Err(FibError::NextHop { next_hop: 127, last: 126 }));
        fib.add(place, 8, 126).unwrap();
        fib.add(place, 9, 1).unwrap();
        fib.add(place, 9, 2).unwrap();
        assert_eq!(fib.add(place, 10, 1), Err(FibError::Routes(2)));
        let again = build(Fib::builder("fib"));
        assert_eq!(again.errno().map(|errno| errno.get()), Some(17), "{again}");
        assert!(matches!(build(Fib::builder("a name that is too long")), CreateError::Name { longest: 19, .. }));
        assert!(matches!(build(Fib::builder("routes").routes(u32::MAX)), CreateError::TooLarge { .. }));
        assert!(matches!(build(Fib::builder("groups").tbl8s(u32::MAX)), CreateError::TooLarge { .. }));
        assert_eq!(build(Fib::builder("none").routes(0)).errno().map(|errno| errno.get()), Some(22));
        assert_eq!(build(Fib::builder("bits").last_next_hop(u64::MAX)).errno().map(|errno| errno.get()), Some(22));
        drop(fib);
        Fib::builder("fib").tree().build(&eal).unwrap();
    });
}

#[test]
fn fib6_says_what_is_wrong() {
    isolated(&[], |eal| {
        let build = |builder: FibBuilder<Fib6>| builder.build(&eal).map(drop).unwrap_err();
        let mut fib = Fib6::builder("fib").routes(2).last_next_hop(100).tbl8s(7).build(&eal).unwrap();
        let place: Ipv6Addr = "2001:db8::".parse().unwrap();
        let depth = FibError::Depth { depth: 129, longest: 128 };
        assert_eq!(fib.add(place, 129, 1), Err(depth));
        assert_eq!((fib.delete(place, 129), fib.rule(place, 129)), (Err(depth), None));
        // There are no entries of 1 byte.
        assert_eq!(fib.add(place, 8, 32_767), Err(FibError::NextHop { next_hop: 32_767, last: 32_766 }));
        assert_eq!(fib.add(place, 128, 1), Err(FibError::Groups(7)));
        assert_eq!(fib.len(), 0);
        fib.add(place, 8, 32_766).unwrap();
        fib.add(place, 9, 1).unwrap();
        fib.add(place, 9, 2).unwrap();
        assert_eq!(fib.add(place, 10, 1), Err(FibError::Routes(2)));
        let again = build(Fib6::builder("fib"));
        assert_eq!(again.errno().map(|errno| errno.get()), Some(17), "{again}");
        // Both kinds keep their routes in pools of the same name.
        assert_eq!(Fib::builder("fib").tree().build(&eal).unwrap_err().errno().map(|errno| errno.get()), Some(17));
        assert!(matches!(build(Fib6::builder("a name that is too long")), CreateError::Name { longest: 19, .. }));
        assert!(matches!(build(Fib6::builder("routes").routes(u32::MAX)), CreateError::TooLarge { .. }));
        assert!(matches!(build(Fib6::builder("groups").tbl8s(u32::MAX)), CreateError::TooLarge { .. }));
        assert_eq!(build(Fib6::builder("none").routes(0)).errno().map(|errno| errno.get()), Some(22));
        assert_eq!(build(Fib6::builder("bits").last_next_hop(u64::MAX)).errno().map(|errno| errno.get()), Some(22));
        drop(fib);
        Fib6::builder("fib").tree().build(&eal).unwrap();
    });
}
