// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Latencies of frames: a histogram, and the jitter of RFC 3550.
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
    jitter: f64,
}

/// The latencies of one stream, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
pub(crate) struct LatencySummary {
    pub(crate) min: Option<f64>,
    pub(crate) avg: Option<f64>,
    pub(crate) max: Option<f64>,
    pub(crate) jitter: Option<f64>,
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
            jitter: 0.0,
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
        // RFC 3550, section 6.4.1: J += (|D| - J) / 16 for each frame but the first; D is 0 within the run.
        if let Some(last) = self.last {
            self.jitter += (cycles.abs_diff(last) as f64 - self.jitter) / 16.0;
        }
        self.jitter *= (15.0_f64 / 16.0).powi(i32::try_from(count - 1).unwrap_or(i32::MAX));
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
            jitter: nanos(self.jitter),
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
            prop_assert!((together.jitter - one_by_one.jitter).abs() <= together.jitter * 1e-9);
            prop_assert_eq!(&together.histogram, &one_by_one.histogram);
            prop_assert_eq!(together.sum, all.iter().map(|cycles| u128::from(*cycles)).sum::<u128>());
            prop_assert_eq!(Some(&together.min), all.iter().min());
            prop_assert_eq!(Some(&together.max), all.iter().max());

            // RFC 3550 over the list.
            let steps = all.windows(2).map(|pair| (pair[0] as f64 - pair[1] as f64).abs());
            let jitter = steps.fold(0.0, |jitter, step| jitter + (step - jitter) / 16.0);
            prop_assert!((together.jitter - jitter).abs() <= jitter * 1e-9);

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
