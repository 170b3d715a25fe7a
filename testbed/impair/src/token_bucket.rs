// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A limit of the rate.

use core::time::Duration;

const BITS_PER_BYTE: u128 = 8;
const NANOSECONDS: u128 = 1_000_000_000;
/// The bucket holds what the rate gives in this time.
const DEPTH: Duration = Duration::from_millis(1);

/// A token bucket. A frame costs its bytes in memory, which have no FCS, as with `netem`. While a frame waits for tokens, the
/// bucket has room for more: neither a pause of the program nor the length of the frame lowers the rate.
#[derive(Clone, Debug)]
pub(crate) struct TokenBucket {
    rate_bps: u128,
    /// In bits times 10^9, so that no fraction is lost; likewise the costs.
    tokens: u128,
    refilled: Duration,
    /// The last frame was not paid for.
    is_awaited: bool,
}

impl TokenBucket {
    /// A full bucket at the time 0.
    pub(crate) fn new(rate_bps: u64) -> Self {
        let rate_bps = u128::from(rate_bps);
        Self { rate_bps, tokens: rate_bps * DEPTH.as_nanos(), refilled: Duration::ZERO, is_awaited: false }
    }

    /// Pays for a frame of `len` bytes, and returns true, if there are enough tokens. Otherwise the frame waits, and is the
    /// next to be paid for.
    pub(crate) fn pay(&mut self, now: Duration, len: usize) -> bool {
        let gained = self.rate_bps * now.saturating_sub(self.refilled).as_nanos();
        self.tokens += gained;
        self.refilled = now;
        if gained > 0 && !self.is_awaited {
            self.tokens = self.tokens.min(self.rate_bps * DEPTH.as_nanos());
        }
        let rest = self.tokens.checked_sub(len as u128 * BITS_PER_BYTE * NANOSECONDS);
        self.tokens = rest.unwrap_or(self.tokens);
        self.is_awaited = rest.is_none();
        rest.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::TokenBucket;
    use core::time::Duration;

    /// At 8 Mbit/s, 1,000 bytes take 1 ms, and the bucket holds as much.
    #[test]
    fn frames_leave_at_the_rate_after_a_full_bucket() {
        let mut bucket = TokenBucket::new(8_000_000);
        let mut times = Vec::new();
        for us in 0..=10_000 {
            while bucket.pay(Duration::from_micros(us), 500) {
                times.push(us);
            }
        }
        let mut expected = vec![0, 0];
        expected.extend((1..=20).map(|frame| frame * 500));
        assert_eq!(times, expected);
    }

    #[test]
    fn tokens_are_lost_only_while_nothing_waits() {
        let mut bucket = TokenBucket::new(8_000_000);
        let mut pay = |ms, frames| (0..frames).filter(|_| bucket.pay(Duration::from_millis(ms), 500)).count();
        assert_eq!(pay(0, 2), 2, "a full bucket");
        assert_eq!(pay(9000, 3), 2, "no more after a long time, and the third frame waits");
        assert_eq!(pay(9005, 10), 10, "5 ms later there is what came in the meantime");
        assert_eq!(pay(9007, 9), 2, "nothing waited");
    }

    #[test]
    fn a_frame_longer_than_the_bucket_passes_in_its_time() {
        let mut bucket = TokenBucket::new(8_000_000);
        let paid: Vec<u64> = (0..=20).filter(|ms| bucket.pay(Duration::from_millis(*ms), 9000)).collect();
        assert_eq!(paid, [8, 17]);
    }

    /// 3 bytes at 7 bit/s take 24/7 s, which is no number of nanoseconds.
    #[test]
    fn no_fraction_is_lost() {
        let mut bucket = TokenBucket::new(7);
        let frames = (0..=700_000).filter(|ms| bucket.pay(Duration::from_millis(*ms), 3)).count();
        assert_eq!(frames, 700 * 7 / 24);
    }
}
