// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! ACL tables, compared with a plain loop.

use crate::{numbers::Numbers, process::isolated};
use dpdk_rs::{
    Eal, lcore,
    lookup::{Acl, AclError, AclRule, FieldDef, FieldMatch},
};
use std::num::NonZeroU32;

const EEXIST: i32 = 17;
const EINVAL: i32 = 22;

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
