// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Hash, LPM and ACL tables, compared with the standard library or with a plain loop.

use crate::process::isolated;
use dpdk_rs::{
    CreateError, Eal, MacAddr, lcore,
    lookup::{Acl, AclError, AclRule, FieldDef, FieldMatch, HashTable, Lpm, Lpm6, LpmError},
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

/// Numbers without a pattern, the same each time (xorshift64).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 20) as usize % limit
    }
}

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

/// Protocol, addresses and ports of IPv4 without options.
const FIELDS: [FieldDef; 5] = [
    FieldDef::bitmask(9, 1),
    FieldDef::prefix(12, 4),
    FieldDef::prefix(16, 4),
    FieldDef::range(20, 2),
    FieldDef::range(22, 2),
];

/// Few values, so that rules overlap.
fn rule(numbers: &mut Numbers, number: u32) -> AclRule<5> {
    let (any, bits) = (numbers.next(), numbers.next());
    let field = |place: u64, field| if any >> place & 3 == 0 { FieldMatch::Any } else { field };
    let address =
        |bits: u64| FieldMatch::Prefix { value: 0x0a00_0000 | bits as u32 & 0x0103, bits: (bits >> 8) as u8 % 33 };
    let first = (bits >> 40) as u32 & 3;
    AclRule {
        // Each has its own: of two that are equal either may be found.
        priority: 1 + number as i32,
        userdata: NonZeroU32::new(1000 + number).unwrap(),
        fields: [
            field(0, FieldMatch::Bitmask { value: bits as u32 & 3, mask: 3 }),
            field(2, address(bits >> 2)),
            field(4, address(bits >> 20)),
            field(6, FieldMatch::Range { first, last: first + ((bits >> 44) as u32 & 3) }),
            field(8, FieldMatch::Range { first: 1, last: 65_535 }),
        ],
    }
}

fn header(numbers: &mut Numbers) -> [u8; 24] {
    let bits = numbers.next();
    let mut header = [0xa5; 24];
    header[9] = bits as u8 & 7;
    header[12..16].copy_from_slice(&(0x0a00_0000 | (bits >> 8) as u32 & 0x0103).to_be_bytes());
    header[16..20].copy_from_slice(&(0x0a00_0000 | (bits >> 24) as u32 & 0x0103).to_be_bytes());
    header[20..22].copy_from_slice(&((bits >> 40) as u16 & 7).to_be_bytes());
    header[22..24].copy_from_slice(&((bits >> 48) as u16 & 1).to_be_bytes());
    header
}

fn matches(asked: FieldMatch, bytes: &[u8]) -> bool {
    let value = bytes.iter().fold(0_u32, |value, byte| value << 8 | u32::from(*byte));
    let width = 8 * bytes.len() as u32;
    match asked {
        FieldMatch::Any => true,
        FieldMatch::Prefix { value: prefix, bits } => u64::from(prefix ^ value) >> (width - u32::from(bits)) == 0,
        FieldMatch::Range { first, last } => (first..=last).contains(&value),
        FieldMatch::Bitmask { value: wanted, mask } => (value ^ wanted) & mask == 0,
    }
}

#[test]
fn acl_finds_the_rule_of_highest_priority() {
    isolated(&[], |eal| {
        let mut numbers = Numbers(11);
        let places = [9..10, 12..16, 16..20, 20..22, 22..24];
        for count in [1, 2, 10, 100] {
            let rules: Vec<AclRule<5>> = (0..count).map(|number| rule(&mut numbers, number)).collect();
            let acl = Acl::builder("acl", FIELDS).rules(rules.iter().copied()).build(&eal).unwrap();
            assert_eq!(acl.input_len(), 24);
            let headers: Vec<[u8; 24]> = (0..300).map(|_| header(&mut numbers)).collect();
            let inputs: Vec<&[u8]> = headers.iter().map(<[u8; 24]>::as_slice).collect();
            let mut results = vec![None; inputs.len()];
            acl.classify(&inputs, &mut results).unwrap();
            let expected = |header: &&[u8]| {
                let all = |rule: &&AclRule<5>| {
                    rule.fields.iter().zip(places.clone()).all(|(asked, place)| matches(*asked, &header[place]))
                };
                rules.iter().filter(all).max_by_key(|rule| rule.priority).map(|rule| rule.userdata)
            };
            assert_eq!(results, inputs.iter().map(expected).collect::<Vec<_>>(), "{count} rules");
            // More inputs than one call takes, and as many as results are wanted.
            let mut one = [None; 1];
            acl.classify(&inputs[5..], &mut one).unwrap();
            assert_eq!(one[0], results[5]);
        }
    });
}

/// For each category the rule of highest priority that is in it and matches.
fn answers<const C: usize>(numbers: &mut Numbers, eal: &Eal, count: u32) {
    let places = [9..10, 12..16, 16..20, 20..22, 22..24];
    // One rule in four is in all categories.
    let rules: Vec<(AclRule<5>, Option<Vec<usize>>)> = (0..count)
        .map(|number| {
            let bits = numbers.next();
            let some: Vec<usize> = (0..C).filter(|category| bits >> category & 1 == 1).collect();
            (rule(numbers, number), Some(some).filter(|some| !some.is_empty() && bits >> 32 & 3 != 0))
        })
        .collect();
    let builder = Acl::builder("acl", FIELDS).categories::<C>();
    let acl = rules.iter().fold(builder, |builder, (rule, categories)| match categories {
        Some(categories) => builder.rule_in(categories.clone(), *rule),
        None => builder.rule(*rule),
    });
    let acl = acl.build(eal).unwrap();
    let headers: Vec<[u8; 24]> = (0..300).map(|_| header(numbers)).collect();
    let inputs: Vec<&[u8]> = headers.iter().map(<[u8; 24]>::as_slice).collect();
    let mut results = vec![[None; C]; inputs.len()];
    acl.classify_categories(&inputs, &mut results).unwrap();
    for (header, result) in inputs.iter().zip(&results) {
        for (category, found) in result.iter().enumerate() {
            let asked =
                rules.iter().filter(|(_, categories)| categories.as_ref().is_none_or(|some| some.contains(&category)));
            let matching = asked.map(|(rule, _)| rule).filter(|rule| {
                rule.fields.iter().zip(places.clone()).all(|(asked, place)| matches(*asked, &header[place]))
            });
            let expected = matching.max_by_key(|rule| rule.priority).map(|rule| rule.userdata);
            assert_eq!(*found, expected, "category {category} of {C}, {count} rules");
        }
    }
    // The categories do not all say the same.
    let differ = |result: &[Option<NonZeroU32>; C]| result.iter().any(|found| *found != result[0]);
    assert!(count < 10 || C == 1 || results.iter().any(differ), "{C} categories, {count} rules");
}

#[test]
fn acl_answers_for_every_category() {
    isolated(&[], |eal| {
        let mut numbers = Numbers(17);
        for count in [1, 10, 100] {
            answers::<1>(&mut numbers, &eal, count);
            answers::<4>(&mut numbers, &eal, count);
            answers::<8>(&mut numbers, &eal, count);
            answers::<12>(&mut numbers, &eal, count);
            answers::<16>(&mut numbers, &eal, count);
        }
        let some = AclRule { priority: 1, userdata: NonZeroU32::MIN, fields: [FieldMatch::Any; 5] };
        for categories in [vec![], vec![0, 4], vec![usize::MAX]] {
            let builder = Acl::builder("wrong", FIELDS).categories::<4>().rule(some);
            let error = builder.rule_in(categories, some).build(&eal).unwrap_err();
            assert!(matches!(error, AclError::Rule { index: 1, .. }), "{error}");
        }
    });
}

#[test]
fn acl_is_shared_by_lcores() {
    isolated(&[], |eal| {
        let mut numbers = Numbers(13);
        let acl =
            Acl::builder("acl", FIELDS).rules((0..20).map(|number| rule(&mut numbers, number))).build(&eal).unwrap();
        let headers: Vec<[u8; 24]> = (0..100).map(|_| header(&mut numbers)).collect();
        let inputs: Vec<&[u8]> = headers.iter().map(<[u8; 24]>::as_slice).collect();
        let classify = || {
            let mut results = vec![None; inputs.len()];
            acl.classify(&inputs, &mut results).unwrap();
            results
        };
        let own = classify();
        lcore::scope(&eal, |scope| {
            let launch = |worker: lcore::Lcore| scope.launch(worker.id(), classify).unwrap();
            let handles: Vec<_> = eal.worker_lcores().into_iter().map(launch).collect();
            handles.into_iter().for_each(|handle| assert_eq!(handle.join().unwrap(), own));
        })
        .unwrap();
    });
}

#[test]
fn acl_says_what_is_wrong() {
    isolated(&[], |eal| {
        let some = AclRule { priority: 1, userdata: NonZeroU32::MIN, fields: [FieldMatch::Any; 5] };
        let acl = Acl::builder("acl", FIELDS).rule(some).build(&eal).unwrap();
        let short = [0; 23];
        let error = acl.classify(&[&[0; 24], &short], &mut [None; 2]).unwrap_err();
        assert_eq!(error, AclError::Input { index: 1, len: 23, needed: 24 });
        assert_eq!(error.to_string(), "input 1 has 23 bytes: the fields need 24");
        // DPDK would give the first one once more.
        let error = Acl::builder("acl", FIELDS).rule(some).build(&eal).unwrap_err();
        assert_eq!((error.call(), error.errno().unwrap().get()), (Some("rte_acl_create"), EEXIST));
        let error = Acl::builder("none", FIELDS).build(&eal).unwrap_err();
        assert_eq!((error.call(), error.errno().unwrap().get()), (Some("rte_acl_build"), EINVAL));
        for rule in [
            AclRule { priority: 0, ..some },
            AclRule { priority: 1 << 29, ..some },
            AclRule { fields: [FieldMatch::Range { first: 0, last: 1 }; 5], ..some },
        ] {
            let error = Acl::builder("rule", FIELDS).rule(some).rule(rule).build(&eal).unwrap_err();
            assert!(matches!(error, AclError::Rule { index: 1, .. }), "{error}");
        }
        let error = Acl::builder("field", [FieldDef::prefix(0, 4)]).build(&eal).unwrap_err();
        assert!(matches!(error, AclError::Field { index: 0, .. }), "{error}");
        let mut results = [None; 1];
        acl.classify(&[&[0; 24]], &mut results).unwrap();
        assert_eq!(results, [Some(NonZeroU32::MIN)]);
    });
}

#[test]
fn tables_outlive_the_eal() {
    let output = isolated(&[], |eal| {
        let some = AclRule { priority: 1, userdata: NonZeroU32::MIN, fields: [FieldMatch::Any; 5] };
        let acl = Acl::builder("acl", FIELDS).rule(some).build(&eal).unwrap();
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
