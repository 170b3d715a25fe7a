// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Objects of every kind under names that DPDK has itself or makes of others', of every length, and with sizes at the borders.
//! Each object holds a number of its own, so that two of them which are really one are found out.

use crate::{raw::Usage, world::empty_scope};
use dpdk_rs::{
    CreateError, Eal, Mempool, MempoolError, Packet, Ring,
    lookup::{Acl, AclError, AclRule, Fib, Fib6, FieldDef, FieldMatch, HashTable, Lpm, Lpm6},
    memory::{Memzone, ObjectPool},
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::{
    net::{Ipv4Addr, Ipv6Addr},
    num::NonZeroU32,
};

const EEXIST: i32 = 17;
const EINVAL: i32 = 22;
const ENOENT: i32 = 2;
const ENOMEM: i32 = 12;
/// What DPDK reports for a pool if memory was available, but only in pieces that are too small.
const ENOBUFS: i32 = 105;

/// Names of DPDK's own; `{}` stands for the name of another object of the program as DPDK knows it.
const NAMES: [&str; 18] = [
    "{}",
    "rs.{}",
    "MP_{}",
    "RG_{}",
    "RG_MP_{}",
    "HT_{}",
    "HT_EXT_{}",
    "LRH_{}",
    "HT_LRH_{}",
    "RIB_{}",
    "FIB_{}",
    "rte_eth_dev_data",
    "rte_timer_mz",
    "mbuf_user_pool_ops",
    "port1_vq0",
    "memif-sh",
    "ETH_RXTX0_net_ring0",
    "",
];

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct NamePlan {
    #[proptest(strategy = "vec(any::<NameDeed>(), 0..30)")]
    deeds: Vec<NameDeed>,
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum NameDeed {
    #[proptest(weight = 5)]
    Make {
        kind: Kind,
        name: Name,
        #[proptest(strategy = "size()")]
        size: u64,
    },
    #[proptest(weight = 2)]
    Drop { which: u8 },
}

fn size() -> impl Strategy<Value = u64> {
    let borders = [16, 31, 32].map(|bits| [(1_u64 << bits) - 1, 1 << bits, (1 << bits) + 1]).concat();
    prop_oneof![
        12 => prop::sample::select(&[1_u64, 2, 7, 8, 9, 15, 16, 31, 63, 64, 255, 256, 300]),
        1 => Just(0),
        1 => prop::sample::select(borders),
        1 => prop::sample::select(&[1_u64 << 47, (1 << 47) + 1, u64::MAX]),
    ]
}

#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Name {
    #[proptest(weight = 6)]
    Own(#[proptest(strategy = "0..NAMES.len()")] usize),
    /// Two of each length, which differ in the last byte.
    #[proptest(weight = 1)]
    Long {
        #[proptest(strategy = "16_usize..31")]
        len: usize,
        last: bool,
    },
    /// With a byte of zero, or one that is not ASCII.
    #[proptest(weight = 1)]
    Bad { zero: bool },
}

#[derive(Arbitrary, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    #[proptest(weight = 4)]
    Pool,
    #[proptest(weight = 4)]
    Objects,
    #[proptest(weight = 4)]
    Ring,
    #[proptest(weight = 4)]
    Hash,
    #[proptest(weight = 4)]
    Zone,
    #[proptest(weight = 4)]
    List,
    #[proptest(weight = 3)]
    Fib,
    #[proptest(weight = 3)]
    Fib6,
    /// It takes 64 MiB.
    #[proptest(weight = 1)]
    Lpm,
    #[proptest(weight = 1)]
    Lpm6,
}

impl Kind {
    /// Those of one space are the same; the longest name in bytes, and the smallest and the largest size.
    const fn limits(self) -> (u8, usize, u64, u64) {
        match self {
            Self::Pool => (0, 22, 1, 1 << 27),
            Self::Objects => (0, 22, 1, 1 << 27),
            Self::Ring => (1, 25, 0, (1 << 30) - 1),
            Self::Hash => (2, 18, 8, (1 << 28) - 1),
            Self::Zone => (3, 28, 1, 1 << 47),
            // Of the rules there is one.
            Self::List => (4, 28, 0, u64::MAX),
            Self::Fib | Self::Fib6 => (5, 19, 1, 1 << 24),
            Self::Lpm => (6, 28, 1, 1 << 26),
            Self::Lpm6 => (7, 18, 1, 1 << 26),
        }
    }
}

/// Why there is no object.
#[derive(Debug, PartialEq, Eq)]
enum Refusal {
    Name,
    Size,
    Memory,
    Exists,
}

impl Refusal {
    fn of_errno(errno: i32) -> Self {
        match errno {
            EEXIST => Self::Exists,
            EINVAL => Self::Size,
            // A pool that has no memory for its objects leaves what its last search for a zone said.
            ENOMEM | ENOBUFS | ENOENT => Self::Memory,
            other => panic!("error number {other}"),
        }
    }

    fn of(error: CreateError) -> Self {
        match error {
            CreateError::Name { .. } => Self::Name,
            CreateError::TooLarge { .. } => Self::Size,
            CreateError::Create { errno, .. } => Self::of_errno(errno.get()),
            error => panic!("{error}"),
        }
    }
}

enum Thing {
    Pool(Mempool<u64>, Packet<u64>),
    Objects(ObjectPool<u64>),
    Ring(Ring<u64>),
    Hash(HashTable<u64, u64>),
    Zone(Memzone),
    List(Acl<1>),
    Fib(Fib),
    Fib6(Fib6),
    Lpm(Lpm),
    Lpm6(Lpm6),
}

struct Held {
    kind: Kind,
    name: String,
    size: u64,
    /// Its own number, from 1 on.
    mark: u64,
    thing: Thing,
}

/// Makes objects as planned, and frees what is left.
pub(crate) fn run(eal: &Eal, number: u64, plan: &NamePlan) {
    let before = Usage::now();
    let mut held: Vec<Held> = Vec::new();
    for (step, deed) in plan.deeds.iter().enumerate() {
        match *deed {
            NameDeed::Make { kind, name, size } => {
                let (name, (space, longest, least, most)) = (text(name, number), kind.limits());
                let taken = held.iter().any(|held| held.kind.limits().0 == space && held.name == name);
                let unusable = name.len() > longest || name.contains(['\0', 'ü']);
                let used = Usage::now();
                match make(eal, kind, &name, size, step as u64 + 1) {
                    Ok(thing) => {
                        assert!(!taken && !unusable && (least..=most).contains(&size), "{kind:?} {name:?} of {size}");
                        held.push(Held { kind, name, size, mark: step as u64 + 1, thing });
                    }
                    Err(refusal) => {
                        let possible = (least..=most).contains(&size);
                        let expected = match refusal {
                            Refusal::Name => unusable,
                            Refusal::Size => !possible,
                            Refusal::Memory => possible && (size > 300 || matches!(kind, Kind::Lpm | Kind::Lpm6)),
                            Refusal::Exists => taken,
                        };
                        assert!(expected, "{kind:?} {name:?} of {size}: {refusal:?}");
                        assert_eq!(Usage::now(), used, "{kind:?} {name:?} of {size} takes memory: {refusal:?}");
                    }
                }
            }
            NameDeed::Drop { which } => {
                if let Some(place) = usize::from(which).checked_rem(held.len()) {
                    held.swap_remove(place);
                    empty_scope(eal);
                }
            }
        }
        held.iter_mut().for_each(Held::verify);
    }
    drop(held);
    empty_scope(eal);
    assert_eq!(Usage::now(), before, "objects that are gone hold memory");
}

fn text(name: Name, number: u64) -> String {
    match name {
        Name::Own(place) => NAMES[place].replace("{}", &format!("rs.{number}")),
        Name::Long { len, last } => format!("{number:-<width$}{}", u8::from(last), width = len - 1),
        Name::Bad { zero } => format!("{number}{}", if zero { '\0' } else { 'ü' }),
    }
}

const ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 1, 2, 3);
const ADDRESS6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);

/// Makes an object with its number in it. A size that its builder's type has no room for is one that is too large.
fn make(eal: &Eal, kind: Kind, name: &str, size: u64, mark: u64) -> Result<Thing, Refusal> {
    if kind == Kind::Zone {
        let len = usize::try_from(size).map_err(|_| Refusal::Size)?;
        let mut zone = Memzone::builder(name, len).build(eal).map_err(Refusal::of)?;
        zone.bytes_mut().fill(mark as u8);
        return Ok(Thing::Zone(zone));
    }
    if kind == Kind::List {
        let field = [FieldDef::bitmask(0, 1)];
        let userdata = NonZeroU32::new(mark as u32).expect("it begins with 1");
        let rule = AclRule { priority: 1, userdata, fields: [FieldMatch::Any] };
        return match Acl::builder(name, field).rule(rule).build(eal) {
            Ok(list) => Ok(Thing::List(list)),
            Err(AclError::Create(error)) => Err(Refusal::of(error)),
            Err(error) => panic!("{error}"),
        };
    }
    let size = u32::try_from(size).map_err(|_| Refusal::Size)?;
    let hop = mark as u32;
    Ok(match kind {
        Kind::Pool => {
            let pool = Mempool::builder(name).size(size).cache(0).data_room(128 + 8).build(eal);
            let pool: Mempool<u64> = pool.map_err(|error| match error {
                MempoolError::Name(_) => Refusal::Name,
                error => Refusal::of_errno(error.errno().expect("DPDK refused").get()),
            })?;
            let all: Vec<_> = std::iter::from_fn(|| pool.alloc()).take(300).collect();
            assert_eq!(all.len(), size.min(300) as usize, "mbufs of a pool");
            drop(all);
            let mut packet = pool.alloc().expect("they are back");
            *packet.private_mut() = mark;
            packet.append(8).expect("there is room").copy_from_slice(&mark.to_ne_bytes());
            Thing::Pool(pool, packet)
        }
        Kind::Objects => {
            let pool = ObjectPool::builder(name).size(size).cache(0);
            Thing::Objects(pool.build(eal, |place| mark << 32 | place as u64).map_err(Refusal::of)?)
        }
        Kind::Ring => {
            let ring = Ring::builder(name).capacity(size).build(eal).map_err(Refusal::of)?;
            let put = (0..300).take_while(|number| ring.enqueue(mark << 32 | number).is_ok()).count();
            assert_eq!((put, ring.capacity()), (size.min(300) as usize, size as usize));
            Thing::Ring(ring)
        }
        Kind::Hash => {
            let mut table = HashTable::builder(name).entries(size).build(eal).map_err(Refusal::of)?;
            assert!((0..u64::from(size.min(300))).all(|key| table.insert(key, mark).is_ok()), "there is room");
            Thing::Hash(table)
        }
        Kind::Fib => {
            let mut table = Fib::builder(name).routes(size).tree().build(eal).map_err(Refusal::of)?;
            table.add(ADDRESS, 32, mark).expect("there is room for a route");
            Thing::Fib(table)
        }
        Kind::Fib6 => {
            let mut table = Fib6::builder(name).routes(size).tree().build(eal).map_err(Refusal::of)?;
            table.add(ADDRESS6, 128, mark).expect("there is room for a route");
            Thing::Fib6(table)
        }
        Kind::Lpm => {
            let mut table = Lpm::builder(name).rules(size).build(eal).map_err(Refusal::of)?;
            table.add(ADDRESS, 32, hop).expect("there is room for a route");
            Thing::Lpm(table)
        }
        _ => {
            let mut table = Lpm6::builder(name).rules(size).tbl8s(16).build(eal).map_err(Refusal::of)?;
            table.add(ADDRESS6, 128, hop).expect("there is room for a route");
            Thing::Lpm6(table)
        }
    })
}

impl Held {
    /// It holds its number, and is as large as it was asked to be.
    fn verify(&mut self) {
        let Self { name, size, mark, thing, .. } = self;
        let (mark, size) = (*mark, *size as usize);
        let holds = match thing {
            Thing::Pool(pool, packet) => {
                assert_eq!((pool.size(), pool.available()), (size, size - 1), "{name}");
                *packet.private() == mark && packet.data() == mark.to_ne_bytes()
            }
            Thing::Objects(pool) => {
                assert_eq!((pool.size(), pool.available()), (size, size), "{name}");
                let object = pool.get().expect("all are there");
                *object >> 32 == mark && (*object as u32 as usize) < size
            }
            Thing::Ring(ring) => {
                assert_eq!(ring.len(), size.min(300), "{name}");
                let first = ring.dequeue();
                assert!(first.is_none_or(|first| ring.enqueue(first).is_ok()));
                first.map(|first| first >> 32) == (size > 0).then_some(mark)
            }
            Thing::Hash(table) => {
                assert_eq!(table.len(), size.min(300), "{name}");
                table.get(&0) == Some(&mark)
            }
            Thing::Zone(zone) => {
                let bytes = zone.bytes();
                bytes.len() >= size && [bytes[0], bytes[bytes.len() - 1]] == [mark as u8; 2]
            }
            Thing::List(list) => {
                let mut found = [None];
                list.classify(&[&[0; 4]], &mut found).expect("the input is long enough");
                found == [NonZeroU32::new(mark as u32)]
            }
            Thing::Fib(table) => table.lookup(ADDRESS) == Some(mark) && table.len() == 1,
            Thing::Fib6(table) => table.lookup(ADDRESS6) == Some(mark) && table.len() == 1,
            Thing::Lpm(table) => table.lookup(ADDRESS) == Some(mark as u32),
            Thing::Lpm6(table) => table.lookup(ADDRESS6) == Some(mark as u32),
        };
        assert!(holds, "{:?} {name:?} has not got its number, {mark}", self.kind);
    }
}
