// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The values of options, in the units of `tc`.

use core::time::Duration;
use rand::distr::Bernoulli;
use testbed_impair::{GilbertElliott, Reorder};

/// Digits only: `parse` would also accept a sign.
pub(crate) fn decimal(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// Digits with at most one point: `parse` would also accept signs, exponents, infinities and NaN.
fn fraction(text: &str) -> Option<f64> {
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') { text.parse().ok() } else { None }
}

/// A share of 1.
fn share(text: &str) -> Option<f64> {
    fraction(text.strip_suffix('%').unwrap_or(text)).map(|percent| percent / 100.0)
}

/// A number with one of these units.
fn with_unit(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    units.iter().find_map(|(unit, factor)| Some(fraction(text.strip_suffix(unit)?)? * factor))
}

pub(crate) fn percent(text: &str) -> Option<Bernoulli> {
    Bernoulli::new(share(text)?).ok()
}

pub(crate) fn gemodel(text: &str) -> Option<GilbertElliott> {
    let (lost, length) = text.split_once(',')?;
    GilbertElliott::new(share(lost)?, fraction(length)?).ok()
}

pub(crate) fn reorder(text: &str) -> Option<Reorder> {
    let (share, gap) = text.split_once(',')?;
    Some(Reorder { share: percent(share)?, gap: count(gap)? })
}

/// A number of frames.
pub(crate) fn count(text: &str) -> Option<u64> {
    decimal(text).filter(|count| (1..=1_000_000).contains(count))
}

/// Up to an hour.
pub(crate) fn time(text: &str) -> Option<Duration> {
    let seconds = with_unit(text, &[("us", 1e-6), ("ms", 1e-3), ("s", 1.0)])?;
    Some(seconds).filter(|seconds| *seconds <= 3600.0).map(Duration::from_secs_f64)
}

/// Bits per second.
pub(crate) fn rate(text: &str) -> Option<u64> {
    let rate = with_unit(text, &[("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)])?;
    Some(rate).filter(|rate| (1e3..=1e12).contains(rate)).map(|rate| rate as u64)
}

#[cfg(test)]
mod tests {
    use super::{count, gemodel, percent, rate, reorder, time};
    use core::time::Duration;
    use rand::distr::Bernoulli;

    #[test]
    fn values_have_the_units_of_tc() {
        assert_eq!(percent("12.5%"), Bernoulli::new(0.125).ok());
        assert_eq!((percent("100"), percent("0%")), (Bernoulli::new(1.0).ok(), Bernoulli::new(0.0).ok()));
        assert_eq!(["1.5us", "20ms", "3s"].map(time), [1500, 20_000_000, 3_000_000_000].map(nanoseconds));
        assert_eq!(["1kbit", "2.5mbit", "10gbit"].map(rate), [Some(1000), Some(2_500_000), Some(10_000_000_000)]);
        assert_eq!(reorder("25%,3").map(|reorder| (Some(reorder.share), reorder.gap)), Some((percent("25"), 3)));
        assert!(gemodel("50%,1").is_some());
    }

    fn nanoseconds(count: u64) -> Option<Duration> {
        Some(Duration::from_nanos(count))
    }

    #[test]
    fn other_values_are_refused() {
        for text in ["", "%", "101%", "-1%", "1e1", "inf", "1%%", "1.2.3", "x"] {
            assert_eq!(percent(text), None, "{text}");
        }
        for text in ["5", "ms", "-1ms", "3601s", "1m", "1 s"] {
            assert_eq!(time(text), None, "{text}");
        }
        for text in ["5", "1bit", "999bit", "0.9kbit", "1001gbit", "10mbps"] {
            assert_eq!(rate(text), None, "{text}");
        }
        assert_eq!(["", "0", "1000001", "+1"].map(count), [None; 4]);
        assert_eq!(["5%", "5%,", "5%,0", "101%,1"].map(reorder), [None; 4]);
        // Every second frame at most can be lost in bursts of 1.
        assert_eq!(["5%", "5%,0.9", "51%,1", "100%,5"].map(gemodel), [None; 4]);
    }
}
