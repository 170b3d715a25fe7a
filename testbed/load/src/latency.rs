// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Times, and what is said about many of them.

use hdrhistogram::{CreationError, Histogram};
use serde::Serialize;

/// Longer times count as this one: hours, in nanoseconds or in cycles.
const LONGEST: u64 = 1 << 44;
const DIGITS: u8 = 3;

/// Times in the unit of the caller's clock, to three digits.
#[derive(Debug)]
pub struct Latencies(Histogram<u64>);

/// In the same unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How many there are.
    pub count: u64,
    /// The shortest.
    pub min: u64,
    /// The mean of all.
    pub mean: f64,
    /// From the mean.
    pub standard_deviation: f64,
    /// The median.
    pub p50: u64,
    /// Three of four are not longer.
    pub p75: u64,
    /// 90 % are not longer.
    pub p90: u64,
    /// 99 % are not longer.
    pub p99: u64,
    /// 99.9 % are not longer.
    pub p99_9: u64,
    /// 99.99 % are not longer.
    pub p99_99: u64,
    /// The longest.
    pub max: u64,
    /// The mean without the longest thousandth.
    pub tm99_9: f64,
}

impl Latencies {
    /// # Errors
    ///
    /// Never with the constants above, but the signature of the crate's function allows errors.
    pub fn new() -> Result<Self, CreationError> {
        Ok(Self(Histogram::new_with_bounds(1, LONGEST, DIGITS)?))
    }

    /// Something took so long.
    #[inline]
    pub fn record(&mut self, time: u64) {
        self.0.saturating_record(time.max(1));
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.reset();
    }

    /// So many per cent of them are not longer.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> u64 {
        self.0.value_at_percentile(percent)
    }

    /// The longest.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.0.max()
    }

    /// `None` if there are no times.
    #[must_use]
    pub fn summary(&self) -> Option<Summary> {
        (!self.0.is_empty()).then(|| Summary {
            count: self.0.len(),
            min: self.0.min(),
            mean: self.0.mean(),
            standard_deviation: self.0.stdev(),
            p50: self.percentile(50.0),
            p75: self.percentile(75.0),
            p90: self.percentile(90.0),
            p99: self.percentile(99.0),
            p99_9: self.percentile(99.9),
            p99_99: self.percentile(99.99),
            max: self.max(),
            tm99_9: self.trimmed_mean(),
        })
    }

    /// The mean of the values up to the 99.9th percentile.
    fn trimmed_mean(&self) -> f64 {
        let kept = (self.0.len() * 999).div_ceil(1_000);
        let (mut left, mut sum) = (kept, 0.0);
        for step in self.0.iter_recorded() {
            let count = step.count_at_value().min(left);
            sum += self.0.median_equivalent(step.value_iterated_to()) as f64 * count as f64;
            left -= count;
        }
        sum / kept as f64
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::Latencies;

    fn times(values: impl IntoIterator<Item = u64>) -> Latencies {
        let mut times = Latencies::new().unwrap();
        values.into_iter().for_each(|value| times.record(value));
        times
    }

    /// To three digits.
    fn is_near(found: f64, expected: f64) -> bool {
        (found - expected).abs() <= expected * 1e-3
    }

    #[test]
    fn the_trimmed_mean_leaves_out_the_longest_thousandth() {
        let with_one = |count| times(std::iter::repeat_n(100, count).chain([1_000_000])).summary().unwrap();
        assert_eq!(with_one(999).tm99_9, 100.0);
        // One of 1,001 is less than a thousandth, but a thousandth has to be whole: as a percentile, it is rounded up.
        assert_eq!(with_one(1_000).tm99_9, 100.0);
        assert!(is_near(with_one(998).tm99_9, (99_800.0 + 1e6) / 999.0));
        assert!(is_near(with_one(999).mean, (99_900.0 + 1e6) / 1e3));
    }

    #[test]
    fn a_summary_is_that_of_the_sorted_values() {
        let values: Vec<u64> = (1..=100_000).map(|value| value * 1_000).collect();
        let summary = times(values.iter().rev().copied()).summary().unwrap();
        assert_eq!((summary.count, summary.min), (100_000, 1_000));
        for (found, expected) in [
            (summary.p50, 50e6),
            (summary.p75, 75e6),
            (summary.p90, 90e6),
            (summary.p99, 99e6),
            (summary.p99_9, 99.9e6),
            (summary.p99_99, 99.99e6),
            (summary.max, 1e8),
        ] {
            assert!(is_near(found as f64, expected), "{found} {expected}");
        }
        assert!(is_near(summary.mean, 50e6) && is_near(summary.tm99_9, 49.95e6));
        assert!(is_near(summary.standard_deviation, 1e8 / 12_f64.sqrt()));
    }

    #[test]
    fn there_may_be_none_and_very_long_ones() {
        assert_eq!(times([]).summary(), None);
        let summary = times([0, u64::MAX]).summary().unwrap();
        assert_eq!((summary.count, summary.min), (2, 1));
        assert!(summary.max >= super::LONGEST);
    }
}
