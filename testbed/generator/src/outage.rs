// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The longest time in which no frame of a stream came back and frames were lost (RFC 6201, section 1.3): what a reset of the
//! device leaves. A pause of the generator alone loses no frame, and is none.

use dpdk_rs::Tsc;

#[derive(Debug, Default)]
pub(crate) struct OutageWatch {
    /// When frames arrived last.
    last: Option<Tsc>,
    /// Frames that were missing then.
    missing: u64,
    /// In TSC cycles.
    pub(crate) longest: Option<u64>,
}

impl OutageWatch {
    /// Call when frames have arrived; `missing` frames were refused or passed over so far.
    #[inline]
    pub(crate) fn arrived(&mut self, now: Tsc, missing: u64) {
        if missing > self.missing
            && let Some(last) = self.last
        {
            self.longest = self.longest.max(Some(now.since(last)));
        }
        (self.last, self.missing) = (Some(now), missing);
    }
}

#[cfg(test)]
mod tests {
    use super::OutageWatch;
    use dpdk_rs::Tsc;

    #[test]
    fn the_longest_time_without_a_frame_counts_only_if_frames_were_lost_in_it() {
        let mut watch = OutageWatch::default();
        let mut arrived = |cycles, missing| {
            watch.arrived(Tsc::from_cycles(cycles), missing);
            watch.longest
        };
        // Lost before the first that came: nothing tells for how long.
        assert_eq!(arrived(100, 5), None);
        assert_eq!(arrived(900, 5), None, "a pause");
        assert_eq!(arrived(950, 6), Some(50));
        assert_eq!(arrived(1_250, 400), Some(300));
        assert_eq!(arrived(1_260, 401), Some(300));
        assert_eq!(arrived(9_000, 401), Some(300), "a pause");
    }
}
