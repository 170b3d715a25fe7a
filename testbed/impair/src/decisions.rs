// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What happens to each frame.

use crate::Impairments;
use core::time::Duration;
use rand::{RngExt as _, SeedableRng as _, distr::Bernoulli, rngs::Xoshiro256PlusPlus};

/// What happens to one frame. A lost frame has the other decisions too, without effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// It is lost independently of others.
    pub lost: bool,
    /// It is lost in a burst.
    pub lost_in_burst: bool,
    /// It is sent twice.
    pub duplicated: bool,
    /// Later frames overtake it.
    pub held_back: bool,
    /// This bit of it is flipped.
    pub flipped: Option<usize>,
    /// It waits for so long.
    pub delay: Duration,
}

/// The decisions on the frames of one direction, in their order. They depend on the seed, on the options, and on the
/// frames' lengths only. Each option draws numbers of its own, so the decisions of one do not depend on the others.
#[derive(Clone, Debug)]
pub struct Decisions {
    loss: Chance,
    gemodel: Xoshiro256PlusPlus,
    /// The state of the Gilbert-Elliott model.
    bad: bool,
    duplicate: Chance,
    reorder: Chance,
    corrupt: Chance,
    jitter: Xoshiro256PlusPlus,
    impairments: Impairments,
}

/// An event with a probability.
#[derive(Clone, Debug)]
struct Chance {
    probability: Option<Bernoulli>,
    rng: Xoshiro256PlusPlus,
}

impl Chance {
    fn draw(&mut self) -> bool {
        self.probability.is_some_and(|probability| self.rng.sample(probability))
    }
}

impl Decisions {
    /// The decisions for each of two directions.
    #[must_use]
    pub fn of_both(seed: u64, directions: &[Impairments; 2]) -> [Self; 2] {
        let mut seeds = Xoshiro256PlusPlus::seed_from_u64(seed);
        directions.each_ref().map(|impairments| Self::new(&mut seeds, impairments))
    }

    fn new(seeds: &mut Xoshiro256PlusPlus, impairments: &Impairments) -> Self {
        let mut rng = || Xoshiro256PlusPlus::from_rng(seeds);
        Self {
            loss: Chance { probability: impairments.loss, rng: rng() },
            gemodel: rng(),
            bad: false,
            duplicate: Chance { probability: impairments.duplicate, rng: rng() },
            reorder: Chance { probability: impairments.reorder.map(|reorder| reorder.share), rng: rng() },
            corrupt: Chance { probability: impairments.corrupt, rng: rng() },
            jitter: rng(),
            impairments: impairments.clone(),
        }
    }

    /// The decision on the next frame, of which `len` bytes can be changed.
    pub fn decide(&mut self, len: usize) -> Decision {
        let Impairments { gemodel, delay, jitter, .. } = &self.impairments;
        let flipped = self.corrupt.draw() && len > 0;
        let spread = (*jitter * 2).mul_f64(self.jitter.random());
        Decision {
            lost: self.loss.draw(),
            lost_in_burst: gemodel.is_some_and(|model| model.is_lost(&mut self.bad, &mut self.gemodel)),
            duplicated: self.duplicate.draw(),
            held_back: self.reorder.draw(),
            flipped: flipped.then(|| self.corrupt.rng.random_range(0..len * 8)),
            delay: (*delay + spread).saturating_sub(*jitter),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Decision, Decisions};
    use crate::{GilbertElliott, Impairments, Reorder};
    use core::time::Duration;
    use rand::distr::Bernoulli;

    const FRAMES: usize = 100_000;
    const LEN: usize = 64;

    fn chance(probability: f64) -> Option<Bernoulli> {
        Bernoulli::new(probability).ok()
    }

    fn everything() -> Impairments {
        Impairments {
            loss: chance(0.1),
            gemodel: GilbertElliott::new(0.05, 4.0).ok(),
            duplicate: chance(0.2),
            corrupt: chance(0.3),
            reorder: chance(0.4).map(|share| Reorder { share, gap: 3 }),
            delay: Duration::from_millis(10),
            jitter: Duration::from_millis(2),
            ..Impairments::default()
        }
    }

    fn decide(seed: u64, impairments: &Impairments) -> [Vec<Decision>; 2] {
        let both = Decisions::of_both(seed, &[impairments.clone(), impairments.clone()]);
        both.map(|mut decisions| (0..FRAMES).map(|_| decisions.decide(LEN)).collect())
    }

    /// Five standard deviations of the binomial distribution.
    #[test]
    fn each_event_is_as_frequent_as_its_probability() {
        for decisions in decide(1, &everything()) {
            let assert_share = |share: f64, event: fn(&Decision) -> bool| {
                let count = decisions.iter().filter(|decision| event(decision)).count() as f64;
                let deviation = (FRAMES as f64 * share * (1.0 - share)).sqrt();
                assert!((count - FRAMES as f64 * share).abs() <= 5.0 * deviation, "{share}: {count}");
            };
            assert_share(0.1, |decision| decision.lost);
            assert_share(0.2, |decision| decision.duplicated);
            assert_share(0.3, |decision| decision.flipped.is_some());
            assert_share(0.4, |decision| decision.held_back);
        }
    }

    #[test]
    fn flipped_bits_and_delays_are_spread_evenly() {
        let [decisions, _] = decide(1, &everything());
        let mut bits = [0_u32; LEN * 8];
        decisions.iter().filter_map(|decision| decision.flipped).for_each(|bit| bits[bit] += 1);
        // 30,000 / 512 of each: 59, with a deviation of 8.
        assert!(bits.iter().all(|count| (19..=99).contains(count)), "{bits:?}");
        let delays = decisions.iter().map(|decision| decision.delay.as_secs_f64());
        let quarter = |delay: f64| ((delay - 0.008) / 0.001).floor() as usize;
        let mut quarters = [0_u32; 4];
        delays.for_each(|delay| quarters[quarter(delay)] += 1);
        // A quarter of 100,000 each, with a deviation of 137.
        assert!(quarters.iter().all(|count| count.abs_diff(25_000) <= 685), "{quarters:?}");
    }

    #[test]
    fn the_seed_alone_decides_and_each_direction_differs() {
        let [one, other] = decide(1, &everything());
        assert_eq!(decide(1, &everything()), [one.clone(), other.clone()]);
        let [again, _] = decide(2, &everything());
        assert!(one != other && one != again);
    }

    #[test]
    fn no_option_changes_what_another_decides() {
        let losses = |impairments: &Impairments| {
            decide(1, impairments).map(|decisions| decisions.iter().map(|decision| decision.lost).collect::<Vec<_>>())
        };
        let alone = Impairments { loss: chance(0.1), ..Impairments::default() };
        assert_eq!(losses(&alone), losses(&everything()));
    }

    #[test]
    fn nothing_happens_by_default_and_everything_at_100_percent() {
        let [decisions, _] = decide(1, &Impairments::default());
        let nothing = Decision {
            lost: false,
            lost_in_burst: false,
            duplicated: false,
            held_back: false,
            flipped: None,
            delay: Duration::ZERO,
        };
        assert!(decisions.iter().all(|decision| *decision == nothing));
        let [mut decisions, _] =
            Decisions::of_both(1, &[Impairments { corrupt: chance(1.0), ..Impairments::default() }, everything()]);
        assert!((0..FRAMES).all(|_| decisions.decide(1).flipped.is_some_and(|bit| bit < 8)));
        assert_eq!(decisions.decide(0).flipped, None, "a frame without bytes");
    }
}
