// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Sets of numbers in the form of the kernel and the EAL: `0-3,8`.

use std::collections::BTreeSet;

/// More than the number of any lcore, CPU or node.
const MOST: u32 = 65_535;

/// Parses `0-3,8`; `None` if the text is not such a list.
pub(super) fn parse(list: &str) -> Option<BTreeSet<u32>> {
    let mut numbers = BTreeSet::new();
    for part in list.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (u32, u32) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if first.max(last) > MOST {
            return None;
        }
        numbers.extend(first.min(last)..=first.max(last));
    }
    Some(numbers)
}

/// Parses a mask such as `0x3f`.
pub(super) fn parse_mask(mask: &str) -> Option<BTreeSet<u32>> {
    let mask = mask.trim();
    let digits = mask.strip_prefix("0x").or_else(|| mask.strip_prefix("0X")).unwrap_or(mask);
    let mut numbers = BTreeSet::new();
    for (place, digit) in digits.chars().rev().enumerate() {
        let digit = digit.to_digit(16)?;
        let place = u32::try_from(place).ok()?;
        numbers.extend((0..4).filter(|bit| digit >> bit & 1 == 1).map(|bit| place * 4 + bit));
    }
    Some(numbers)
}

/// Formats numbers as `0-3,8`.
pub(super) fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for number in numbers.iter().copied().collect::<BTreeSet<_>>() {
        match parts.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => parts.push((number, number)),
        }
    }
    let parts = parts.into_iter().map(|(first, last)| match last - first {
        0 => first.to_string(),
        _ => format!("{first}-{last}"),
    });
    parts.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{parse, parse_mask, ranges};

    #[test]
    fn lists_are_read_and_written() {
        for list in ["0", "0-3", "0-3,8", "1,3,5-6,128"] {
            let numbers: Vec<u32> = parse(list).unwrap().into_iter().collect();
            assert_eq!(ranges(&numbers), list);
        }
        assert_eq!(parse("3-1"), parse("1-3"));
        assert_eq!(ranges(&[]), "");
    }

    #[test]
    fn what_is_no_list_is_none() {
        for text in ["", "a", "1,", "1-", "-1", "99999999", "0-4000000000", "1-2-3"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn masks_are_read() {
        assert_eq!(parse_mask("0x3f"), parse("0-5"));
        assert_eq!(parse_mask("80000001"), parse("0,31"));
        assert_eq!(parse_mask("xyz"), None);
    }
}
