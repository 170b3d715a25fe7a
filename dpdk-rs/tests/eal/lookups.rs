// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Hash and LPM tables, compared with the standard library or with a plain loop.

use crate::{numbers::Numbers, process::isolated};
use dpdk_rs::{
    CreateError, MacAddr, lcore,
    lookup::{Acl, AclRule, FieldDef, FieldMatch, HashTable, Lpm, Lpm6, LpmError},
};
use std::{
    collections::HashMap,
    net::{Ipv4Addr, Ipv6Addr},
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

const EEXIST: i32 = 17;
const ENOMEM: i32 = 12;
const EINVAL: i32 = 22;

/// A flow of 13 bytes: a size for which the C code has no special comparison.
type Flow = [u8; 13];

fn flow(number: u64) -> Flow {
    std::array::from_fn(|place| (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (place % 8 * 8)) as u8 ^ place as u8)
}

#[test]
fn hash_table_does_what_a_hash_map_does() {
    isolated(&[], |eal| {
        let mut table = HashTable::<Flow, String>::builder("table").entries(512).build(&eal).unwrap();
        let mut model = HashMap::new();
        let mut numbers = Numbers(1);
        for _ in 0..20_000 {
            let number = numbers.next();
            let key = flow(number % 700);
            match number >> 32 & 3 {
                0 => assert_eq!(table.remove(&key), model.remove(&key)),
                1 => assert_eq!(table.get(&key), model.get(&key)),
                2 => assert_eq!(
                    table.get_mut(&key).map(|value| value.push('x')),
                    model.get_mut(&key).map(|value: &mut String| value.push('x'))
                ),
                _ if model.len() < 512 || model.contains_key(&key) => {
                    assert_eq!(table.insert(key, number.to_string()).unwrap(), model.insert(key, number.to_string()));
                }
                _ => assert_eq!(table.insert(key, number.to_string()).unwrap_err().0, number.to_string(), "full"),
            }
            assert_eq!(table.len(), model.len());
        }
        assert!(model.len() > 300);
        let mut found: Vec<(Flow, &String)> = table.iter().collect();
        let mut expected: Vec<(Flow, &String)> = model.iter().map(|(key, value)| (*key, value)).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected);
        let keys: Vec<Flow> = (0..700).map(flow).collect();
        let keep = |key: &Flow, value: &mut String| {
            value.push('y');
            *key >= flow(350)
        };
        let former = model.len();
        table.retain(keep);
        model.retain(keep);
        assert!(model.len() > 50 && model.len() < former - 50, "{} of {former}", model.len());
        assert_eq!(table.len(), model.len());
        let mut values = vec![None; 700];
        assert_eq!(table.get_bulk(&keys, &mut values), model.len());
        assert!(keys.iter().zip(&values).all(|(key, value)| *value == model.get(key)));

        // In a full table keys are in extra buckets too, from which DPDK fills the places of those that are removed.
        let mut full = HashTable::<u64, bool>::builder("full").entries(4096).build(&eal).unwrap();
        (0..4096).for_each(|count| assert!(full.insert(numbers.next(), count % 16 == 0).is_ok()));
        full.retain(|_, keep| *keep);
        assert_eq!(full.len(), 256);

        let mut ports = HashTable::<MacAddr, u16>::builder("ports").build(&eal).unwrap();
        ports.insert(MacAddr([2, 0, 0, 0, 0, 1]), 1).unwrap();
        ports.insert(MacAddr([2, 0, 0, 0, 1, 0]), 2).unwrap();
        assert_eq!(ports.get(&MacAddr([2, 0, 0, 0, 1, 0])), Some(&2));
        assert_eq!(ports.get(&MacAddr([2, 0, 0, 0, 1, 1])), None);
    });
}

/// The table holds the number of entries it was built for, whatever the hashes of the keys, and loses nothing when it
/// is full.
#[test]
fn hash_table_is_full_when_it_says_so_and_drops_its_values() {
    struct Counted(Arc<AtomicUsize>);
    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    isolated(&[], |eal| {
        let drops = Arc::new(AtomicUsize::new(0));
        let counted = || Counted(Arc::clone(&drops));
        for entries in [8, 9, 100, 1000] {
            let mut table = HashTable::builder("table").entries(entries).build(&eal).unwrap();
            assert!(table.is_empty());
            for key in 0..entries {
                assert!(table.insert(key, counted()).unwrap().is_none());
            }
            assert!(table.insert(entries, counted()).is_err(), "{entries}");
            assert!(table.insert(0, counted()).unwrap().is_some(), "a key that is there may get another value");
            assert_eq!(drops.swap(0, Ordering::SeqCst), 2);
            drop(table.remove(&1).unwrap());
            assert!(table.remove(&1).is_none());
            table.insert(entries, counted()).unwrap();
            drop(table);
            assert_eq!(drops.swap(0, Ordering::SeqCst), entries as usize + 1);
        }
    });
}

#[test]
fn hash_tables_that_cannot_be_made_say_why() {
    isolated(&[], |eal| {
        let build = |name: &str, entries| HashTable::<u32, ()>::builder(name).entries(entries).build(&eal);
        let _table = build("table", 8).unwrap();
        for (error, errno) in
            [(build("table", 8), EEXIST), (build("small", 7), EINVAL), (build("large", (1 << 28) - 1), ENOMEM)]
        {
            let error = error.unwrap_err();
            assert_eq!((error.call(), error.errno().unwrap().get()), (Some("rte_hash_create"), errno), "{error}");
        }
        assert_eq!(
            build("small", 7).unwrap_err().to_string(),
            "cannot create hash table 'small': rte_hash_create: Invalid argument: give 8 entries or more"
        );
        let error = build("nineteen-bytes-long", 8).unwrap_err();
        assert!(matches!(error, CreateError::Name { longest: 18, .. }), "{error}");
        assert!(matches!(build("Straße", 8), Err(CreateError::Name { .. })), "telemetry would read it wrong");
        let error = HashTable::<[u64; 8193], ()>::builder("long").build(&eal).unwrap_err();
        assert!(matches!(error, CreateError::TooLarge { len: 65_544, .. }), "{error}");
        // DPDK would store the last entry at the address of the first one.
        for entries in [1 << 28, 1 << 30, u32::MAX] {
            let error = build("large", entries).unwrap_err();
            assert!(matches!(error, CreateError::TooLarge { elements, .. } if elements == entries as usize), "{error}");
        }
        let build = |entries| HashTable::<[u8; 65_528], ()>::builder("large").entries(entries).build(&eal).unwrap_err();
        assert!(matches!(build(1 << 16), CreateError::TooLarge { elements: 65_536, len: 65_528, .. }));
        assert_eq!(build((1 << 16) - 1).errno().unwrap().get(), ENOMEM);
        assert!(HashTable::<[u8; 0], ()>::builder("nothing").build(&eal).is_err(), "a key has bytes");
    });
}

/// Including a key of zeros, which DPDK itself would add twice.
#[test]
fn shared_hash_table_does_what_a_hash_map_does() {
    isolated(&[], |eal| {
        for entries in [64, 256] {
            let (mut writer, reader) = HashTable::builder("table").entries(entries).build_shared(&eal).unwrap();
            let (mut model, mut numbers) = (HashMap::new(), Numbers(7));
            for _ in 0..10_000 {
                let number = numbers.next();
                let key = number as u32 % 100;
                if number >> 40 & 1 == 0 {
                    assert_eq!(writer.remove(&key), model.remove(&key).is_some());
                } else if model.len() < entries as usize || model.contains_key(&key) {
                    writer.insert(key, number).unwrap();
                    model.insert(key, number);
                } else {
                    assert_eq!(writer.insert(key, number).unwrap_err().0, number);
                }
                assert_eq!((reader.len(), reader.get(&key)), (model.len(), model.get(&key).copied()));
            }
            assert_eq!(reader.iter().len(), model.len(), "no key twice");
            assert_eq!((&reader).into_iter().collect::<HashMap<_, _>>(), model);
        }
    });
}

/// Lcores constantly look up what the main lcore changes: each value is one that the key had, never a mixture.
#[test]
fn shared_hash_table_is_read_while_it_is_changed() {
    const KEYS: u32 = 200;
    isolated(&[], |eal| {
        let (mut writer, reader) =
            HashTable::<u32, [u16; 4]>::builder("table").entries(128).build_shared(&eal).unwrap();
        // Which key, and which round, twice.
        let value = |key: u32, round: u16| [key as u16, round, !(key as u16), !round];
        let stop = AtomicBool::new(false);
        let looked = AtomicUsize::new(0);
        lcore::scope(&eal, |scope| {
            for worker in eal.worker_lcores() {
                let (reader, stop, looked) = (reader.clone(), &stop, &looked);
                scope
                    .launch(worker.id(), move || {
                        let keys: Vec<u32> = (0..KEYS).collect();
                        let mut values = vec![None; keys.len()];
                        let right = |key: u32, value: [u16; 4]| {
                            assert_eq!((value[0], value[2], value[3]), (key as u16, !(key as u16), !value[1]));
                        };
                        while !stop.load(Ordering::SeqCst) {
                            let hits = reader.get_bulk(&keys, &mut values);
                            assert_eq!(values.iter().flatten().count(), hits);
                            for (key, value) in keys.iter().zip(&values) {
                                if let Some(value) = value {
                                    right(*key, *value);
                                }
                                if let Some(value) = reader.get(key) {
                                    right(*key, value);
                                }
                            }
                            for (key, value) in &reader {
                                right(key, value);
                            }
                            looked.fetch_add(1, Ordering::SeqCst);
                        }
                    })
                    .unwrap();
            }
            let mut numbers = Numbers(7);
            let mut round = 0_u16;
            // The lcores may share a processor with this thread.
            while looked.load(Ordering::SeqCst) < 20 || round < 50 {
                round = round.wrapping_add(1);
                for _ in 0..100 {
                    let number = numbers.next();
                    let key = number as u32 % KEYS;
                    if number >> 40 & 1 == 0 {
                        writer.remove(&key);
                    } else if let Err(full) = writer.insert(key, value(key, round)) {
                        assert_eq!(full.0, value(key, round));
                    }
                }
                std::thread::yield_now();
            }
            stop.store(true, Ordering::SeqCst);
        })
        .unwrap();
        for key in 0..KEYS {
            writer.remove(&key);
        }
        assert!(reader.is_empty());
        writer.insert(3, value(3, 9)).unwrap();
        writer.insert(3, value(3, 10)).unwrap();
        let other = writer.reader();
        drop((writer, eal));
        assert_eq!((reader.get(&3), other.len()), (Some(value(3, 10)), 1));
    });
}

/// The next hop of the longest of `rules` that matches, by trying all.
fn longest<const BITS: u32>(rules: &HashMap<(u128, u8), u32>, address: u128) -> Option<u32> {
    let matching = rules.iter().filter(|((prefix, depth), _)| (prefix ^ address) >> (BITS - u32::from(*depth)) == 0);
    matching.max_by_key(|((_, depth), _)| *depth).map(|(_, next_hop)| *next_hop)
}

#[test]
fn lpm_finds_the_longest_prefix() {
    isolated(&[], |eal| {
        let mut table = Lpm::builder("routes").rules(400).build(&eal).unwrap();
        let (mut model, mut numbers) = (HashMap::new(), Numbers(3));
        let address = |number: u64| Ipv4Addr::from_bits(0x0a00_0000 | (number as u32 & 0x8003_03ff));
        for _ in 0..1000 {
            let number = numbers.next();
            let depth = (number >> 40) as u8 % 32 + 1;
            let prefix = Ipv4Addr::from_bits(address(number).to_bits() & (!0 << (32 - depth)));
            let key = (u128::from(prefix.to_bits()), depth);
            if number >> 50 & 3 == 0 {
                assert_eq!(table.delete(prefix, depth).is_ok(), model.remove(&key).is_some());
            } else {
                let next_hop = number as u32 >> 8;
                table.add(prefix, depth, next_hop).unwrap();
                model.insert(key, next_hop);
            }
            assert_eq!(table.rule(prefix, depth), model.get(&key).copied());
        }
        let addresses: Vec<Ipv4Addr> = (0..1000).map(|_| address(numbers.next())).collect();
        let mut next_hops = vec![None; addresses.len()];
        let hits = table.lookup_bulk(&addresses, &mut next_hops);
        assert_eq!(next_hops.iter().flatten().count(), hits);
        for (address, next_hop) in addresses.iter().zip(next_hops) {
            assert_eq!(next_hop, longest::<32>(&model, u128::from(address.to_bits())), "{address}");
            assert_eq!(next_hop, table.lookup(*address));
        }
        table.clear();
        assert_eq!(table.lookup(address(0)), None);
    });
}

#[test]
fn lpm_refuses_what_it_cannot_hold() {
    isolated(&[], |eal| {
        let mut table = Lpm::builder("routes").rules(2).tbl8s(1).build(&eal).unwrap();
        let ten = Ipv4Addr::new(10, 0, 0, 0);
        assert_eq!(table.add(ten, 0, 1), Err(LpmError::Depth { depth: 0, longest: 32 }));
        assert_eq!(table.add(ten, 33, 1), Err(LpmError::Depth { depth: 33, longest: 32 }));
        assert_eq!(table.add(ten, 8, 1 << 24), Err(LpmError::NextHop { next_hop: 1 << 24, last: (1 << 24) - 1 }));
        assert_eq!(table.delete(ten, 8).unwrap_err().call(), Some("rte_lpm_delete"));
        table.add(ten, 8, (1 << 24) - 1).unwrap();
        assert_eq!(table.lookup(Ipv4Addr::new(10, 255, 255, 255)), Some((1 << 24) - 1));
        table.add(ten, 32, 0).unwrap();
        assert_eq!((table.lookup(ten), table.rule(ten, 32)), (Some(0), Some(0)));
        let full = table.add(Ipv4Addr::new(11, 0, 0, 0), 8, 1).unwrap_err();
        assert_eq!((full.call(), full.errno().unwrap().get()), (Some("rte_lpm_add"), 28));
        let error = Lpm::builder("routes").build(&eal).unwrap_err();
        assert_eq!((error.call(), error.errno().unwrap().get()), (Some("rte_lpm_create"), EEXIST));
        assert!(matches!(Lpm::builder("many").rules(u32::MAX).build(&eal), Err(CreateError::TooLarge { .. })));
        // DPDK would reserve 1 KiB for one group more than 2^22, and write past it.
        for groups in [1 << 22, (1 << 22) + 1, 1 << 24, 1 << 31, u32::MAX] {
            let error = Lpm::builder("groups").tbl8s(groups).build(&eal).unwrap_err();
            assert!(matches!(error, CreateError::TooLarge { elements, len: 1024, .. } if elements == groups as usize));
        }
        let most = Lpm::builder("groups").tbl8s((1 << 22) - 1).build(&eal).unwrap_err();
        assert_eq!((most.call(), most.errno().unwrap().get()), (Some("rte_lpm_create"), ENOMEM));
        drop(table);
        Lpm::builder("routes").build(&eal).unwrap();
    });
}

#[test]
fn lpm6_finds_the_longest_prefix() {
    isolated(&[], |eal| {
        let mut table = Lpm6::builder("routes").rules(400).build(&eal).unwrap();
        let (mut model, mut numbers) = (HashMap::new(), Numbers(5));
        // Few different bytes, so that prefixes overlap.
        let address = |number: u64| Ipv6Addr::from_bits(0x2001_0db8 << 96 | u128::from(number & 0x0101_0000_0001_0103));
        for _ in 0..1000 {
            let number = numbers.next();
            let depth = (number >> 33) as u8 % 128 + 1;
            let prefix = Ipv6Addr::from_bits(address(number).to_bits() & (!0 << (128 - depth)));
            let key = (prefix.to_bits(), depth);
            if number >> 50 & 3 == 0 {
                assert_eq!(table.delete(prefix, depth).is_ok(), model.remove(&key).is_some());
            } else if model.len() < 400 {
                let next_hop = number as u32 >> 11;
                table.add(prefix, depth, next_hop).unwrap();
                model.insert(key, next_hop);
            }
            assert_eq!(table.rule(prefix, depth), model.get(&key).copied());
        }
        let addresses: Vec<Ipv6Addr> = (0..1000).map(|_| address(numbers.next())).collect();
        let mut next_hops = vec![None; addresses.len()];
        let hits = table.lookup_bulk(&addresses, &mut next_hops);
        assert_eq!(next_hops.iter().flatten().count(), hits);
        for (address, next_hop) in addresses.iter().zip(next_hops) {
            assert_eq!(next_hop, longest::<128>(&model, address.to_bits()), "{address}");
            assert_eq!(next_hop, table.lookup(*address));
        }
        assert_eq!(table.add(Ipv6Addr::LOCALHOST, 129, 0), Err(LpmError::Depth { depth: 129, longest: 128 }));
        assert_eq!(
            table.add(Ipv6Addr::LOCALHOST, 1, 1 << 21),
            Err(LpmError::NextHop { next_hop: 1 << 21, last: (1 << 21) - 1 })
        );
        table.clear();
        assert_eq!(table.lookup(address(0)), None);
        let error = Lpm6::builder("routes").build(&eal).unwrap_err();
        assert_eq!((error.call(), error.errno().unwrap().get()), (Some("rte_lpm6_create"), EEXIST));
    });
}

#[test]
fn tables_outlive_the_eal() {
    let output = isolated(&[], |eal| {
        let some = AclRule { priority: 1, userdata: NonZeroU32::MIN, fields: [FieldMatch::Any] };
        let acl = Acl::builder("acl", [FieldDef::bitmask(0, 1)]).rule(some).build(&eal).unwrap();
        let mut table = HashTable::builder("table").build(&eal).unwrap();
        let mut routes = Lpm::builder("routes").build(&eal).unwrap();
        drop(eal);
        table.insert(5_u16, "five".to_owned()).unwrap();
        routes.add(Ipv4Addr::new(10, 0, 0, 0), 8, 7).unwrap();
        acl.classify(&[&[0; 24]], &mut [None; 1]).unwrap();
        assert_eq!(
            (table.get(&5).map(String::as_str), routes.lookup(Ipv4Addr::new(10, 1, 1, 1))),
            (Some("five"), Some(7))
        );
    });
    assert!(!output.contains("not cleaned up"), "{output}");
}
