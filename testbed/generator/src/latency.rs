// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Latencies of frames: a histogram, and how much they differ from frame to frame.
//!
//! A latency starts when the burst of the frame is offered to the TX queue, and ends when the receive call that returns the
//! frame ends. Frames that leave in one burst and come back in one burst have the same latency and are recorded together.

use dpdk_rs::Clock;
use hdrhistogram::Histogram;

/// Percentiles are exact to three digits up to this many cycles (hours); longer latencies count as this.
const LONGEST: u64 = 1 << 44;
const DIGITS: u8 = 3;

/// The latencies of one stream, in cycles.
#[derive(Debug)]
pub(crate) struct LatencyRecorder {
    histogram: Histogram<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
    last: Option<u64>,
    /// Of the differences between frames that came one after the other.
    steps: u128,
}

/// The latencies of one stream, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub(crate) struct LatencySummary {
    pub(crate) min: Option<f64>,
    pub(crate) avg: Option<f64>,
    pub(crate) max: Option<f64>,
    /// The mean of |IPDV| (RFC 5481, section 4.1) over all frames.
    pub(crate) ipdv: Option<f64>,
    pub(crate) p50: Option<f64>,
    pub(crate) p90: Option<f64>,
    pub(crate) p99: Option<f64>,
    pub(crate) p99_9: Option<f64>,
    pub(crate) p99_99: Option<f64>,
    pub(crate) count: u64,
}

impl LatencyRecorder {
    /// # Errors
    /// Never with the constants above, but the signature of the crate's function allows errors.
    pub(crate) fn new() -> Result<Self, hdrhistogram::CreationError> {
        Ok(Self {
            histogram: Histogram::new_with_bounds(1, LONGEST, DIGITS)?,
            count: 0,
            sum: 0,
            min: u64::MAX,
            max: 0,
            last: None,
            steps: 0,
        })
    }

    /// `count` frames, one after the other, took `cycles` each.
    #[inline]
    pub(crate) fn record(&mut self, cycles: u64, count: u64) {
        if count == 0 {
            return;
        }
        self.histogram.saturating_record_n(cycles.max(1), count);
        self.count += count;
        self.sum += u128::from(cycles) * u128::from(count);
        self.min = self.min.min(cycles);
        self.max = self.max.max(cycles);
        // Within the run frames do not differ.
        self.steps += u128::from(self.last.map_or(0, |last| cycles.abs_diff(last)));
        self.last = Some(cycles);
    }

    pub(crate) fn summary(&self, clock: Clock) -> LatencySummary {
        if self.count == 0 {
            return LatencySummary::default();
        }
        let nanos = |cycles: f64| Some((cycles * 1e9 / clock.hz() as f64 * 10.0).round() / 10.0);
        let percentile = |percent| {
            // A bucket reports its upper end, which can exceed the largest value in it.
            nanos(self.histogram.value_at_percentile(percent).clamp(self.min, self.max) as f64)
        };
        LatencySummary {
            min: nanos(self.min as f64),
            avg: nanos(self.sum as f64 / self.count as f64),
            max: nanos(self.max as f64),
            ipdv: (self.count > 1).then(|| nanos(self.steps as f64 / (self.count - 1) as f64)).flatten(),
            p50: percentile(50.0),
            p90: percentile(90.0),
            p99: percentile(99.0),
            p99_9: percentile(99.9),
            p99_99: percentile(99.99),
            count: self.count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::LatencyRecorder;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_run_counts_as_its_frames_one_by_one(runs in prop::collection::vec((1_u64..1 << 30, 1_u64..40), 1..40)) {
            let (mut together, mut one_by_one) = (LatencyRecorder::new()?, LatencyRecorder::new()?);
            let mut all = Vec::new();
            for (cycles, count) in runs {
                together.record(cycles, count);
                for _ in 0..count {
                    one_by_one.record(cycles, 1);
                    all.push(cycles);
                }
            }
            prop_assert_eq!(together.steps, one_by_one.steps);
            prop_assert_eq!(&together.histogram, &one_by_one.histogram);
            prop_assert_eq!(together.sum, all.iter().map(|cycles| u128::from(*cycles)).sum::<u128>());
            prop_assert_eq!(Some(&together.min), all.iter().min());
            prop_assert_eq!(Some(&together.max), all.iter().max());

            prop_assert_eq!(together.steps, all.windows(2).map(|pair| u128::from(pair[0].abs_diff(pair[1]))).sum::<u128>());

            // The percentile of the sorted list, to three digits.
            all.sort_unstable();
            let median = all[(all.len() - 1) / 2] as f64;
            let found = together.histogram.value_at_percentile(50.0) as f64;
            prop_assert!((found - median).abs() <= median * 1e-3 + 1.0, "{} is not {}", found, median);
        }
    }

    #[test]
    fn what_takes_longer_than_the_histogram_holds_counts_all_the_same() -> Result<(), hdrhistogram::CreationError> {
        let mut recorder = LatencyRecorder::new()?;
        recorder.record(u64::MAX, 2);
        recorder.record(0, 1);
        assert_eq!((recorder.histogram.len(), recorder.max, recorder.min), (3, u64::MAX, 0));
        Ok(())
    }
}
