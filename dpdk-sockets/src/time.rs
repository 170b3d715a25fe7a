// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The clock of a stack.

use core::ops::Add;
use core::time::Duration;

/// Microseconds since some moment, or between two. A `Duration` costs more where it is added and compared for each segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Time(u64);

impl Time {
    pub(crate) const ZERO: Self = Self(0);

    pub(crate) const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    pub(crate) const fn from_millis(millis: u64) -> Self {
        Self(millis * 1_000)
    }

    pub(crate) const fn from_secs(seconds: u64) -> Self {
        Self(seconds * 1_000_000)
    }

    pub(crate) const fn as_micros(self) -> u64 {
        self.0
    }

    /// How long ago `earlier` was; 0 if it is in the future.
    pub(crate) const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// A tick of the timers is a millisecond.
    pub(crate) const fn tick(self) -> u64 {
        self.0 / 1_000
    }
}

impl From<Duration> for Time {
    /// Longer times than 292,000 years are cut.
    fn from(duration: Duration) -> Self {
        Self(
            duration
                .as_secs()
                .saturating_mul(1_000_000)
                .saturating_add(u64::from(duration.subsec_micros()))
                .min(1 << 63),
        )
    }
}

impl Add for Time {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
