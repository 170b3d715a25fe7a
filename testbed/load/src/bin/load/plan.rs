// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! When the requests of a step are due.

use rand::{RngExt as _, SeedableRng as _, rngs::Xoshiro256PlusPlus};

/// The planned times of a step, in nanoseconds from its start on.
///
/// The rate changes evenly from one value to another. Its integral is the number of requests that are planned until a time.
/// Requests are due when that reaches 0, 1, 2 and so on, or the places of a Poisson process with rate 1.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    from: f64,
    to: f64,
    seconds: f64,
    place: f64,
    poisson: Option<Xoshiro256PlusPlus>,
}

impl Plan {
    /// Rates in requests a second. With a seed, the places are drawn.
    pub(crate) fn new(from: f64, to: f64, seconds: f64, seed: Option<u64>) -> Self {
        Self { from, to, seconds, place: 0.0, poisson: seed.map(Xoshiro256PlusPlus::seed_from_u64) }
    }

    fn next_place(&mut self) -> f64 {
        match &mut self.poisson {
            None => {
                self.place += 1.0;
                self.place - 1.0
            }
            Some(random) => {
                self.place -= (1.0 - random.random::<f64>()).ln();
                self.place
            }
        }
    }
}

impl Iterator for Plan {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let place = self.next_place();
        let Self { from, to, seconds, .. } = *self;
        if place >= (from + to) / 2.0 * seconds {
            return None;
        }
        if place == 0.0 {
            return Some(0);
        }
        // The solution of `from t + (to - from) t^2 / (2 seconds) = place`, in the form that also holds for equal rates.
        let root = (from * from + 2.0 * place * (to - from) / seconds).max(0.0).sqrt();
        Some((2.0 * place / (from + root) * 1e9) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::Plan;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn equal_distances_have_the_rate() {
        for (rate, seconds, count) in [(10_000.0, 10.0, 100_000), (3.0, 1.0, 3), (0.5, 3.0, 2), (1e6, 0.5, 500_000)] {
            let times: Vec<u64> = Plan::new(rate, rate, seconds, None).collect();
            assert_eq!(times.len(), count, "{rate}");
            assert_eq!(times[0], 0);
            let distance = (1e9 / rate) as u64;
            assert!(times.windows(2).all(|pair| (pair[1] - pair[0]).abs_diff(distance) <= 1), "{rate}");
        }
    }

    #[test]
    fn a_ramp_goes_evenly_up_or_down() {
        for (from, to, first_half) in [(0.0, 1_000.0, 1_250), (1_000.0, 0.0, 3_750), (200.0, 600.0, 1_500)] {
            let times: Vec<u64> = Plan::new(from, to, 10.0, None).collect();
            assert_eq!(times.len(), ((from + to) * 5.0) as usize, "{from}");
            assert!(times.is_sorted() && times[times.len() - 1] < 10 * SECOND, "{from}");
            let found = times.iter().filter(|time| **time < 5 * SECOND).count();
            assert!(found.abs_diff(first_half) <= 1, "{from}: {found}");
        }
    }

    #[test]
    fn a_poisson_process_has_its_mean_and_variance() {
        let plan = |seed| Plan::new(10_000.0, 10_000.0, 100.0, Some(seed));
        let times: Vec<u64> = plan(7).collect();
        // Of a million, so five standard deviations are half a per cent.
        assert!(times.len().abs_diff(1_000_000) < 5_000, "{}", times.len());
        let gaps: Vec<f64> = times.windows(2).map(|pair| (pair[1] - pair[0]) as f64).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        assert!(
            (mean / 100_000.0 - 1.0).abs() < 0.005 && (variance.sqrt() / mean - 1.0).abs() < 0.01,
            "{mean} {variance}"
        );
        assert!(plan(7).eq(times.iter().copied()) && plan(8).ne(times));
    }

    #[test]
    fn a_poisson_ramp_is_planned_in_order() {
        let times: Vec<u64> = Plan::new(0.0, 1_000.0, 10.0, Some(1)).collect();
        assert!(times.is_sorted() && times.len().abs_diff(5_000) < 400, "{}", times.len());
        let first_half = times.iter().filter(|time| **time < 5 * SECOND).count();
        assert!(first_half.abs_diff(1_250) < 200, "{first_half}");
    }
}
