// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The time stamp counter.

use crate::{Eal, environment::Environment};
use core::time::Duration;

/// A reading of the time stamp counter, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tsc(u64);

impl Tsc {
    /// The cycles since the counter started.
    #[must_use]
    pub const fn cycles(self) -> u64 {
        self.0
    }

    /// A reading with this number of cycles, as returned by [`Tsc::cycles`].
    #[must_use]
    pub const fn from_cycles(cycles: u64) -> Self {
        Self(cycles)
    }

    /// The cycles from `earlier` to this reading; 0 if `earlier` is later, as cores may differ by a few cycles.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }

    /// The reading `cycles` later.
    #[must_use]
    pub const fn after(self, cycles: u64) -> Self {
        Self(self.0.saturating_add(cycles))
    }
}

/// The time stamp counter and its frequency. A copy may be used on any thread.
#[doc(alias = "rte_get_tsc_hz")]
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    hz: u64,
}

impl Clock {
    /// The counter, with the frequency that the EAL measured at start.
    #[must_use]
    pub fn new(eal: &Eal) -> Self {
        Self::of(eal.environment())
    }

    /// Like `new`, in any process.
    pub(crate) fn of(_environment: &Environment) -> Self {
        // SAFETY: the EAL is initialised, since there is an `Environment`; the call reads a number.
        Self { hz: unsafe { dpdk_sys::rte_get_tsc_hz() } }
    }

    /// Reads the counter.
    #[doc(alias = "rte_rdtsc")]
    #[inline]
    #[must_use]
    pub fn now(self) -> Tsc {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: every x86-64 processor has the instruction; it reads a counter.
        let cycles = unsafe { core::arch::x86_64::_rdtsc() };
        #[cfg(not(target_arch = "x86_64"))]
        // SAFETY: the call reads a counter, which exists on every processor that DPDK supports.
        let cycles = unsafe { dpdk_sys::rte_rdtsc() };
        Tsc(cycles)
    }

    /// The counter's frequency in cycles per second.
    #[must_use]
    pub const fn hz(self) -> u64 {
        self.hz
    }

    /// `duration` in cycles, rounded up.
    #[must_use]
    pub fn cycles(self, duration: Duration) -> u64 {
        let cycles = (u128::from(self.hz) * duration.as_nanos()).div_ceil(1_000_000_000);
        u64::try_from(cycles).unwrap_or(u64::MAX)
    }

    /// The duration of `cycles`.
    #[must_use]
    pub fn duration(self, cycles: u64) -> Duration {
        let nanos = u128::from(cycles) * 1_000_000_000 / u128::from(self.hz.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Tsc};
    use core::time::Duration;

    #[test]
    fn cycles_and_durations_agree() {
        let clock = Clock { hz: 2_100_000_000 };
        assert_eq!(clock.cycles(Duration::from_micros(100)), 210_000);
        assert_eq!(clock.cycles(Duration::from_nanos(1)), 3);
        assert_eq!(clock.duration(210_000), Duration::from_micros(100));
        assert_eq!(clock.cycles(Duration::MAX), u64::MAX);
    }

    #[test]
    fn time_never_runs_backwards() {
        assert_eq!(Tsc(5).since(Tsc(7)), 0);
        assert_eq!(Tsc(5).after(u64::MAX), Tsc(u64::MAX));
    }
}
