// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Losses that come in bursts.

use rand::{
    RngExt,
    distr::{Bernoulli, BernoulliError},
};

/// The Gilbert-Elliott model with a good state, which loses nothing, and a bad one, which loses everything.
///
/// It is `loss gemodel p r` of `netem`, where the mean length of a burst is 1 / r, and the share of lost frames p / (p + r).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GilbertElliott {
    /// From the good state to the bad one.
    enter: Bernoulli,
    leave: Bernoulli,
}

impl GilbertElliott {
    /// A model that loses this share of the frames in bursts of this mean length.
    ///
    /// # Errors
    /// If `share` is not from 0 to `length` / (1 + `length`), or `length` is less than 1: two bursts have at least one frame
    /// between them.
    pub fn new(share: f64, length: f64) -> Result<Self, BernoulliError> {
        Ok(Self { enter: Bernoulli::new(share / (1.0 - share) / length)?, leave: Bernoulli::new(1.0 / length)? })
    }

    /// Whether the next frame is lost. `bad` is the state, which is good at first. The frame has the state before the
    /// change, as in `netem`.
    pub(crate) fn is_lost(&self, bad: &mut bool, rng: &mut impl RngExt) -> bool {
        let lost = *bad;
        *bad ^= rng.sample(if lost { self.leave } else { self.enter });
        lost
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::GilbertElliott;
    use rand::{SeedableRng as _, rngs::Xoshiro256PlusPlus};

    const FRAMES: usize = 200_000;

    fn losses(model: GilbertElliott, frames: usize) -> Vec<bool> {
        let (mut bad, mut rng) = (false, Xoshiro256PlusPlus::seed_from_u64(7));
        (0..frames).map(|_| model.is_lost(&mut bad, &mut rng)).collect()
    }

    /// The mean of n geometric lengths with the mean m has the variance m (m - 1) / n. Five deviations are allowed.
    #[test]
    fn bursts_have_their_mean_length_and_share() {
        for (share, mean) in [(0.01, 5.0), (0.2, 2.0), (0.3, 20.0), (0.1, 1.0)] {
            let losses = losses(GilbertElliott::new(share, mean).unwrap(), FRAMES);
            let lost = losses.iter().filter(|lost| **lost).count() as f64;
            let bursts = losses.chunk_by(|a, b| a == b).filter(|run| run[0]).count() as f64;
            let length_deviation = (mean * (mean - 1.0) / bursts).sqrt();
            assert!((lost / bursts - mean).abs() <= 5.0 * length_deviation, "{mean}: {}", lost / bursts);
            // Of a two-state chain: p (1 - p) / n, times (1 + c) / (1 - c) for the correlation c of neighbours.
            let correlation = 1.0 - 1.0 / mean - share / (1.0 - share) / mean;
            let inflation = (1.0 + correlation) / (1.0 - correlation);
            let share_deviation = (share * (1.0 - share) / FRAMES as f64 * inflation).sqrt();
            let lost_share = lost / FRAMES as f64;
            assert!((lost_share - share).abs() <= 5.0 * share_deviation, "{share}: {lost_share}");
        }
    }

    #[test]
    fn the_borders_are_exact() {
        // Half of the frames in bursts of one: the good state lasts for one frame too.
        assert_eq!(losses(GilbertElliott::new(0.5, 1.0).unwrap(), 6), [false, true, false, true, false, true]);
        assert_eq!(losses(GilbertElliott::new(0.0, 3.0).unwrap(), 6), [false; 6]);
        for (share, length) in [(0.6, 1.0), (1.0, 9.0), (0.1, 0.5), (0.1, 0.0), (-0.1, 1.0)] {
            assert!(GilbertElliott::new(share, length).is_err(), "{share} {length}");
        }
    }
}
