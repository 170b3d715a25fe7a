// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is asked for.

use crate::GilbertElliott;
use core::time::Duration;
use rand::distr::Bernoulli;

/// The impairments of one direction. By default there are none, and up to 1,000 frames wait, as with `netem`.
#[derive(Clone, Debug, PartialEq)]
pub struct Impairments {
    /// How likely each frame is lost, independently of the others.
    pub loss: Option<Bernoulli>,
    /// Losses that come in bursts.
    pub gemodel: Option<GilbertElliott>,
    /// How likely each frame is sent twice.
    pub duplicate: Option<Bernoulli>,
    /// How likely one bit of a frame is flipped.
    pub corrupt: Option<Bernoulli>,
    /// Frames that later ones overtake.
    pub reorder: Option<Reorder>,
    /// How long each frame waits.
    pub delay: Duration,
    /// The most that the wait differs from `delay`, either way; every difference is equally likely.
    pub jitter: Duration,
    /// Bits per second.
    pub rate_bps: Option<u64>,
    /// The most frames that wait at a time; more are dropped.
    pub limit: usize,
}

/// Which frames are held back, and for how long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// How likely each frame is held back.
    pub share: Bernoulli,
    /// How many later frames pass before it.
    pub gap: u64,
}

impl Default for Impairments {
    fn default() -> Self {
        Self {
            loss: None,
            gemodel: None,
            duplicate: None,
            corrupt: None,
            reorder: None,
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            rate_bps: None,
            limit: 1000,
        }
    }
}
