// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The random numbers of all libraries and languages: `cpp/random.hpp` draws the same.

/// Xorshift with 128 bits of state (G. Marsaglia, "Xorshift RNGs", 2003), from the seeds of Cap'n Proto's benchmark.
#[derive(Clone, Debug)]
pub struct Random {
    state: [u32; 4],
}

impl Default for Random {
    fn default() -> Self {
        Self { state: [0x1d2a_cd47, 0x58ca_3e14, 0xf563_f232, 0x0bc7_6199] }
    }
}

impl Random {
    /// The next number.
    pub fn number(&mut self) -> u32 {
        let [first, second, third, last] = self.state;
        let mixed = first ^ (first << 11);
        let next = last ^ (last >> 19) ^ mixed ^ (mixed >> 8);
        self.state = [second, third, last, next];
        next
    }

    /// A number below this one, which is not 0.
    pub fn below(&mut self, limit: u32) -> u32 {
        self.number() % limit
    }

    /// A number of at least 0 and at most this one.
    pub fn real(&mut self, most: f64) -> f64 {
        f64::from(self.number()) * most / f64::from(u32::MAX)
    }

    /// True once in so many times.
    pub fn once_in(&mut self, times: u32) -> bool {
        self.below(times) == 0
    }
}
