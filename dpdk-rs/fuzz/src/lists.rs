// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Access control lists of any rules and categories, compared with a loop over the rules.

use crate::{environment::eal, reader::Reader};
use dpdk_rs::{
    Eal,
    lookup::{Acl, AclError, AclRule, FieldDef, FieldKind, FieldMatch},
};
use std::{cell::OnceCell, num::NonZeroU32};

const RULES: usize = 12;
const INPUTS: usize = 12;

/// The highest priority.
const HIGHEST: i32 = (1 << 29) - 1;

/// A field: how it is compared, where it is, how many bytes it has.
type Field = (FieldKind, u32, u8);

const ADDRESSES: [Field; 4] =
    [(FieldKind::Bitmask, 1, 1), (FieldKind::Prefix, 4, 4), (FieldKind::Range, 8, 2), (FieldKind::Bitmask, 10, 2)];
const PIECES: [Field; 5] = [
    (FieldKind::Prefix, 6, 1),
    (FieldKind::Range, 0, 4),
    (FieldKind::Bitmask, 4, 1),
    (FieldKind::Range, 5, 1),
    (FieldKind::Prefix, 6, 2),
];
const ALONE: [Field; 1] = [(FieldKind::Range, 3, 1)];

/// A rule, and the categories that it is in, if not in all.
type Rule<const N: usize> = (AclRule<N>, Option<Vec<usize>>);

/// A list is made exactly if all of its rules can be, and says for each input and category what the first rule of highest
/// priority has that matches.
pub fn acl_rules(data: &[u8]) {
    thread_local! {
        static EAL: OnceCell<&'static Eal> = const { OnceCell::new() };
    }
    let eal = EAL.with(|cell| *cell.get_or_init(|| eal(&[])));
    let mut reader = Reader::new(data);
    match reader.below(5) {
        0 => experiment::<4, 1>(eal, &ADDRESSES, &mut reader),
        1 => experiment::<4, 4>(eal, &ADDRESSES, &mut reader),
        2 => experiment::<5, 1>(eal, &PIECES, &mut reader),
        3 => experiment::<5, 8>(eal, &PIECES, &mut reader),
        _ => experiment::<1, 4>(eal, &ALONE, &mut reader),
    }
}

fn experiment<const N: usize, const C: usize>(eal: &Eal, fields: &[Field; N], reader: &mut Reader<'_>) {
    let rules: Vec<Rule<N>> = (0..reader.below(RULES)).map(|number| rule(number, fields, reader)).collect();
    let definitions = fields.map(|(kind, offset, len)| match kind {
        FieldKind::Prefix => FieldDef::prefix(offset, len),
        FieldKind::Range => FieldDef::range(offset, len),
        FieldKind::Bitmask => FieldDef::bitmask(offset, len),
    });
    let builder = Acl::builder("fuzz", definitions).categories::<C>();
    let builder = rules.iter().cloned().fold(builder, |builder, (rule, categories)| match categories {
        Some(categories) => builder.rule_in(categories, rule),
        None => builder.rule(rule),
    });
    let wrong = rules.iter().position(|rule| !is_sound::<N, C>(rule, fields));
    let acl = match (builder.build(eal), wrong) {
        (Ok(acl), None) if !rules.is_empty() => acl,
        (Err(AclError::Rule { index, .. }), Some(wrong)) if index == wrong => return,
        (Err(AclError::Call { .. }), None) if rules.is_empty() => return,
        (result, wrong) => panic!("{result:?}, and the first rule that is wrong is {wrong:?} of {rules:?}"),
    };
    let inputs: Vec<Box<[u8]>> = (0..reader.below(INPUTS)).map(|_| input(&rules, fields, &acl, reader)).collect();
    classify(&acl, &rules, fields, &inputs);
}

/// A rule, mostly one that can be.
fn rule<const N: usize>(number: usize, fields: &[Field; N], reader: &mut Reader<'_>) -> Rule<N> {
    let categories = reader.byte();
    let categories = (categories & 1 == 1).then(|| (0..7).filter(|bit| categories >> (bit + 1) & 1 == 1).collect());
    let priority = match reader.byte() {
        255 => HIGHEST + 1,
        254 => HIGHEST,
        other => i32::from(other % 8),
    };
    let userdata = NonZeroU32::MIN.saturating_add(u32::try_from(number).expect("there are few rules"));
    (AclRule { priority, userdata, fields: fields.map(|field| asked(field, reader)) }, categories)
}

fn asked((kind, _, len): Field, reader: &mut Reader<'_>) -> FieldMatch {
    let choice = reader.byte();
    let mut number = || (0..len).fold(0, |number, _| number << 8 | u32::from(reader.byte()));
    match (choice % 16, kind) {
        (0..=4, _) => FieldMatch::Any,
        // One of another kind, or too large, at times.
        (5, _) => FieldMatch::Prefix { value: number(), bits: choice },
        (6, _) => FieldMatch::Range { first: number(), last: number() },
        (7, _) => FieldMatch::Bitmask { value: number() << 1, mask: number() },
        (_, FieldKind::Prefix) => FieldMatch::Prefix { value: number(), bits: choice / 16 * len / 2 },
        (_, FieldKind::Range) => {
            let (one, other) = (number(), number());
            FieldMatch::Range { first: one.min(other), last: one.max(other) }
        }
        (_, FieldKind::Bitmask) => FieldMatch::Bitmask { value: number(), mask: number() },
    }
}

/// Whether a rule says what can be said of the fields.
fn is_sound<const N: usize, const C: usize>((rule, categories): &Rule<N>, fields: &[Field; N]) -> bool {
    let fits = |(kind, _, len): Field, asked: FieldMatch| {
        let last = u32::MAX >> (32 - 8 * u32::from(len));
        match (kind, asked) {
            (_, FieldMatch::Any) => true,
            (FieldKind::Prefix, FieldMatch::Prefix { value, bits }) => value <= last && bits <= 8 * len,
            (FieldKind::Range, FieldMatch::Range { first, last: end }) => first <= end && end <= last,
            (FieldKind::Bitmask, FieldMatch::Bitmask { value, mask }) => value.max(mask) <= last,
            _ => false,
        }
    };
    (1..=HIGHEST).contains(&rule.priority)
        && fields.iter().zip(rule.fields).all(|(field, asked)| fits(*field, asked))
        && categories.as_ref().is_none_or(|some| !some.is_empty() && some.iter().all(|category| *category < C))
}

/// Any bytes, or such as a rule asks for.
fn input<const N: usize, const C: usize>(
    rules: &[Rule<N>],
    fields: &[Field; N],
    acl: &Acl<N, C>,
    reader: &mut Reader<'_>,
) -> Box<[u8]> {
    let choice = reader.byte();
    // One byte less than is needed, at times.
    let len = acl.input_len() - usize::from(choice == 255);
    let mut bytes = vec![0; len];
    if let (true, Some((rule, _))) = (choice & 1 == 1, rules.get(usize::from(choice / 2) % rules.len())) {
        for ((_, offset, len), asked) in fields.iter().zip(rule.fields) {
            let value = match asked {
                FieldMatch::Any => 0,
                FieldMatch::Prefix { value, .. } | FieldMatch::Bitmask { value, .. } => value,
                FieldMatch::Range { last, .. } => last,
            };
            let place = *offset as usize..*offset as usize + usize::from(*len);
            if let Some(place) = bytes.get_mut(place) {
                place.copy_from_slice(value.to_be_bytes().split_at(4 - usize::from(*len)).1);
            }
        }
        let (place, byte) = (reader.below(len), reader.byte());
        if let Some(place) = bytes.get_mut(place) {
            *place ^= byte;
        }
    } else {
        let drawn = reader.bytes(len);
        bytes.iter_mut().zip(drawn).for_each(|(byte, drawn)| *byte = *drawn);
    }
    bytes.into()
}

fn matches<const N: usize>(rule: &AclRule<N>, fields: &[Field; N], input: &[u8]) -> bool {
    fields.iter().zip(rule.fields).all(|((_, offset, len), asked)| {
        let bytes = input.iter().skip(*offset as usize).take(usize::from(*len));
        let number = bytes.fold(0, |number, byte| number << 8 | u32::from(*byte));
        match asked {
            FieldMatch::Any => true,
            FieldMatch::Prefix { value, bits } => {
                let behind = 8 * u32::from(*len) - u32::from(bits);
                u64::from(number) >> behind == u64::from(value) >> behind
            }
            FieldMatch::Range { first, last } => (first..=last).contains(&number),
            FieldMatch::Bitmask { value, mask } => (number ^ value) & mask == 0,
        }
    })
}

fn classify<const N: usize, const C: usize>(
    acl: &Acl<N, C>,
    rules: &[Rule<N>],
    fields: &[Field; N],
    inputs: &[Box<[u8]>],
) {
    let borrowed: Vec<&[u8]> = inputs.iter().map(AsRef::as_ref).collect();
    let mut results = vec![[None; C]; inputs.len()];
    let short = inputs.iter().position(|input| input.len() < acl.input_len());
    match (acl.classify_categories(&borrowed, &mut results), short) {
        (Ok(()), None) => (),
        (Err(AclError::Input { index, .. }), Some(short)) if index == short => return,
        (result, short) => panic!("{result:?}, and the first input that is too short is {short:?}"),
    }
    for (input, found) in inputs.iter().zip(results) {
        for (category, found) in found.into_iter().enumerate() {
            let is_in = |some: &Option<Vec<usize>>| some.as_ref().is_none_or(|some| some.contains(&category));
            let matching = rules.iter().filter(|(rule, some)| is_in(some) && matches(rule, fields, input));
            let matching: Vec<&AclRule<N>> = matching.map(|(rule, _)| rule).collect();
            let highest = matching.iter().map(|rule| rule.priority).max();
            // Of several of the same priority DPDK may tell any.
            let allowed =
                |userdata| matching.iter().any(|rule| rule.userdata == userdata && Some(rule.priority) == highest);
            let right = found.map_or(highest.is_none(), allowed);
            assert!(right, "{input:?} in category {category}: {found:?} of {rules:?}");
        }
    }
}
