// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Access control lists of one category or several, beside a loop over their rules.

use crate::raw::Usage;
use dpdk_rs::{
    Eal,
    lookup::{Acl, AclBuilder, AclError, AclRule, FieldDef, FieldMatch},
};
use proptest::{collection::vec, prelude::*};
use proptest_derive::Arbitrary;
use std::num::NonZeroU32;

/// A byte of flags, four bytes of an address, and two numbers of two bytes: where each is in an input.
const FIELDS: [FieldDef; 4] =
    [FieldDef::bitmask(1, 1), FieldDef::prefix(4, 4), FieldDef::range(8, 2), FieldDef::range(10, 2)];

const INPUT: usize = 12;

type Input = [u8; INPUT];

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct ListPlan {
    categories: Categories,
    #[proptest(strategy = "vec(any::<ListRule>(), 0..8)")]
    rules: Vec<ListRule>,
    #[proptest(strategy = "vec(proptest::array::uniform12(byte()), 0..80)")]
    inputs: Vec<Input>,
}

/// How many questions a list answers at once.
#[derive(Arbitrary, Clone, Copy, Debug)]
pub(crate) enum Categories {
    One,
    Four,
    Sixteen,
}

#[derive(Arbitrary, Clone, Debug)]
pub(crate) struct ListRule {
    /// A bit for each category of the rule; `None` means all.
    #[proptest(strategy = "proptest::option::of(1_u16..)")]
    within: Option<u16>,
    #[proptest(strategy = "1_i32..6")]
    priority: i32,
    #[proptest(strategy = "proptest::option::of((byte(), byte()))")]
    flags: Option<(u8, u8)>,
    #[proptest(strategy = "proptest::option::of((proptest::array::uniform4(byte()), 0_u8..33))")]
    address: Option<([u8; 4], u8)>,
    #[proptest(strategy = "range()")]
    first: Option<(u16, u16)>,
    #[proptest(strategy = "range()")]
    second: Option<(u16, u16)>,
}

/// Few different ones, so that rules match.
fn byte() -> impl Strategy<Value = u8> {
    prop::sample::select(&[0_u8, 1, 2, 128, 255])
}

fn range() -> impl Strategy<Value = Option<(u16, u16)>> {
    let number = || (byte(), byte()).prop_map(|(high, low)| u16::from_be_bytes([high, low]));
    proptest::option::of((number(), number()).prop_map(|(one, other)| (one.min(other), one.max(other))))
}

impl ListRule {
    fn raw(&self, number: usize) -> AclRule<4> {
        let range = |range| match range {
            Some((first, last)) => FieldMatch::Range { first: u32::from(first), last: u32::from(last) },
            None => FieldMatch::Any,
        };
        AclRule {
            priority: self.priority,
            userdata: NonZeroU32::MIN.saturating_add(number as u32),
            fields: [
                self.flags.map_or(FieldMatch::Any, |(value, mask)| FieldMatch::Bitmask {
                    value: u32::from(value & mask),
                    mask: u32::from(mask),
                }),
                self.address.map_or(FieldMatch::Any, |(address, bits)| FieldMatch::Prefix {
                    value: u32::from_be_bytes(address),
                    bits,
                }),
                range(self.first),
                range(self.second),
            ],
        }
    }

    /// The categories of a list of `C` that it is in, if not in all.
    fn categories<const C: usize>(&self) -> Option<Vec<usize>> {
        let within = |bits: u16| (0..C).filter(|category| bits >> category & 1 == 1).collect::<Vec<_>>();
        // A rule is in one at least.
        self.within.map(within).filter(|categories| !categories.is_empty())
    }

    fn is_in<const C: usize>(&self, category: usize) -> bool {
        self.categories::<C>().is_none_or(|categories| categories.contains(&category))
    }

    fn matches(&self, input: &Input) -> bool {
        let within = |range: Option<(u16, u16)>, place: usize| {
            let number = u16::from_be_bytes([input[place], input[place + 1]]);
            range.is_none_or(|(first, last)| (first..=last).contains(&number))
        };
        let same_network = |(address, bits): ([u8; 4], u8)| {
            let there = u32::from_be_bytes([input[4], input[5], input[6], input[7]]);
            let different = there ^ u32::from_be_bytes(address);
            different.leading_zeros() >= u32::from(bits)
        };
        self.flags.is_none_or(|(value, mask)| input[1] & mask == value & mask)
            && self.address.is_none_or(same_network)
            && within(self.first, 8)
            && within(self.second, 10)
    }
}

/// Makes a list, and classifies with it.
pub(crate) fn run(eal: &Eal, number: u64, plan: &ListPlan) {
    let before = Usage::now();
    let builder = Acl::builder(format!("list{number}"), FIELDS);
    match plan.categories {
        Categories::One => make(eal, builder, plan),
        Categories::Four => make(eal, builder.categories::<4>(), plan),
        Categories::Sixteen => make(eal, builder.categories::<16>(), plan),
    }
    assert_eq!(Usage::now(), before, "a list that is gone holds memory");
}

fn make<const C: usize>(eal: &Eal, builder: AclBuilder<4, C>, plan: &ListPlan) {
    let rules = plan.rules.iter().enumerate();
    let builder = rules.fold(builder, |builder, (number, rule)| match rule.categories::<C>() {
        Some(categories) => builder.rule_in(categories, rule.raw(number)),
        None => builder.rule(rule.raw(number)),
    });
    match builder.build(eal) {
        Ok(list) => {
            assert!(!plan.rules.is_empty(), "a list without rules was made");
            classify(&list, plan);
        }
        Err(AclError::Call { .. }) if plan.rules.is_empty() => (),
        Err(error) => panic!("{error}"),
    }
}

fn classify<const C: usize>(list: &Acl<4, C>, plan: &ListPlan) {
    assert_eq!(list.input_len(), INPUT);
    // Each in memory of exactly its length, so that a sanitizer reports a read past the end.
    let inputs: Vec<Box<[u8]>> = plan.inputs.iter().map(|input| Box::from(input.as_slice())).collect();
    let inputs: Vec<&[u8]> = inputs.iter().map(AsRef::as_ref).collect();
    let mut found = vec![[None; C]; inputs.len()];
    list.classify_categories(&inputs, &mut found).expect("all inputs are long enough");
    for (input, found) in plan.inputs.iter().zip(found) {
        for (category, found) in found.into_iter().enumerate() {
            let matches = |rule: &ListRule| rule.is_in::<C>(category) && rule.matches(input);
            let matching = || plan.rules.iter().enumerate().filter(|(_, rule)| matches(rule));
            let highest = matching().map(|(_, rule)| rule.priority).max();
            // Of several with that priority, DPDK does not say which.
            let allowed = |number: usize| matching().any(|(at, rule)| at == number && Some(rule.priority) == highest);
            match found {
                Some(userdata) => {
                    let number = userdata.get() as usize - 1;
                    assert!(allowed(number), "{input:?} in category {category}: rule {number}");
                }
                None => assert_eq!(highest, None, "{input:?} was not found in category {category}"),
            }
        }
    }
    let short = [0; INPUT - 1];
    let error = list.classify_categories(&[&short], &mut [[None; C]]).expect_err("the input is too short");
    assert!(matches!(error, AclError::Input { index: 0, .. }), "{error}");
}
