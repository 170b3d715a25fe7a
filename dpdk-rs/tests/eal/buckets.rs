// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A model of meters: buckets that are filled as the RFCs define.

use dpdk_rs::{
    Eal,
    meter::Color::{self, Green, Red, Yellow},
};

/// A bucket of tokens, to which `rate` are added each second, up to `size`.
#[derive(Clone, Copy)]
pub(crate) struct Bucket {
    rate: f64,
    size: f64,
    tokens: f64,
    /// The number of tokens added at once: DPDK adds tokens in whole periods.
    step: f64,
}

impl Bucket {
    /// With the rate that DPDK derives: whole bytes in a whole number of cycles, at least 100.
    pub(crate) fn new(eal: &Eal, rate: u64, size: u64) -> Self {
        let hz = eal.clock().hz();
        let bytes = if rate == 0 { 0 } else { (100 * rate).div_ceil(hz).max(1) };
        let cycles = (hz * bytes).checked_div(rate).unwrap_or(1);
        let rate = bytes as f64 * hz as f64 / cycles as f64;
        Self { rate, size: size as f64, tokens: size as f64, step: bytes as f64 }
    }

    /// Adds the tokens of a number of seconds. Returns those for which there is no room.
    fn fill(&mut self, tokens: f64) -> f64 {
        let all = self.tokens + tokens;
        self.tokens = all.min(self.size);
        all - self.tokens
    }

    fn has(&self, len: f64) -> bool {
        self.tokens >= len
    }
}

/// The buckets of a meter, the second of which is for yellow packets, and the RFC that defines them.
#[derive(Clone, Copy)]
pub(crate) struct Model {
    pub(crate) rfc: u32,
    pub(crate) first: Bucket,
    pub(crate) second: Bucket,
}

impl Model {
    pub(crate) fn color(&mut self, seconds: f64, len: f64, before: Color) -> Color {
        let left = self.first.fill(self.first.rate * seconds);
        // The second bucket of RFC 2697 has no rate of its own.
        let more = if self.rfc == 2697 { left } else { self.second.rate * seconds };
        let _ = self.second.fill(more);
        let (green, yellow) = (before == Green && self.first.has(len), before != Red && self.second.has(len));
        let color = match self.rfc {
            2698 if !yellow => Red,
            _ if green => Green,
            _ if yellow => Yellow,
            _ => Red,
        };
        match color {
            Green => self.first.tokens -= len,
            Yellow => self.second.tokens -= len,
            Red => (),
        }
        if color == Green && self.rfc == 2698 {
            self.second.tokens -= len;
        }
        color
    }

    /// Whether a bucket is so close to the packet's length that rounding decides.
    pub(crate) fn is_near(&self, seconds: f64, len: f64) -> bool {
        let mut later = *self;
        let left = later.first.fill(later.first.rate * seconds);
        let _ = later.second.fill(if self.rfc == 2697 { left } else { later.second.rate * seconds });
        let near = 2_000.0 + 4.0 * (self.first.step + self.second.step);
        [later.first, later.second].iter().any(|bucket| (bucket.tokens - len).abs() < near)
    }
}
