// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How long answers take.

use hdrhistogram::Histogram;

/// Percentiles are exact to three digits up to this many cycles (hours); longer latencies count as this.
const LONGEST: u64 = 1 << 44;
const DIGITS: u8 = 3;

/// Latencies in the unit of the caller's clock.
#[derive(Debug)]
pub struct Latencies(Histogram<u64>);

impl Latencies {
    /// # Errors
    ///
    /// Never with the constants above, but the signature of the crate's function allows errors.
    pub fn new() -> Result<Self, hdrhistogram::CreationError> {
        Ok(Self(Histogram::new_with_bounds(1, LONGEST, DIGITS)?))
    }

    /// An answer took so long.
    #[inline]
    pub fn record(&mut self, latency: u64) {
        self.0.saturating_record(latency.max(1));
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.reset();
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// So many per cent of them are not longer.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> u64 {
        self.0.value_at_percentile(percent)
    }
}
