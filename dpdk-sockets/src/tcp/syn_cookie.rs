// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! SYN cookies (RFC 4987, section 3.6): an initial sequence number that is all that is known of a handshake.
//!
//! From the highest bit: 5 bits of a clock, 3 bits for the peer's maximum segment size, and 24 bits of a hash with a secret
//! key over the flow, the peer's number, and the other two.

use crate::demux::Flow;
use crate::time::Time;
use core::hash::BuildHasher;
use smoltcp::wire::TcpSeqNumber;
use std::collections::hash_map::RandomState;

/// The sizes that a cookie can name. The largest one that is not too large is taken.
const SEGMENT_SIZES: [u16; 8] = [64, 536, 1_024, 1_220, 1_360, 1_440, 1_460, 8_960];

/// The clock's unit. A cookie is good in its own and in the next one.
const UNIT: u64 = 64_000_000;

#[derive(Debug, Default)]
pub(crate) struct SynCookies {
    key: RandomState,
}

impl SynCookies {
    /// The initial sequence number for a SYN with this number and this maximum segment size.
    pub(crate) fn number(&self, flow: Flow, syn: TcpSeqNumber, segment_size: u16, now: Time) -> TcpSeqNumber {
        let size = SEGMENT_SIZES.iter().rposition(|size| *size <= segment_size).unwrap_or(0);
        self.cookie(flow, syn, now.as_micros() / UNIT, size)
    }

    /// The maximum segment size, if `number` is a cookie for a SYN with the number `syn`.
    pub(crate) fn segment_size(&self, flow: Flow, syn: TcpSeqNumber, number: TcpSeqNumber, now: Time) -> Option<u16> {
        let size = (number.0 >> 24) as usize & 7;
        let unit = now.as_micros() / UNIT;
        let is_good = |unit| self.cookie(flow, syn, unit, size) == number;
        (is_good(unit) || (unit > 0 && is_good(unit - 1))).then(|| SEGMENT_SIZES[size])
    }

    fn cookie(&self, flow: Flow, syn: TcpSeqNumber, unit: u64, size: usize) -> TcpSeqNumber {
        let hash = self.key.hash_one((flow, syn.0, unit, size)) as u32 >> 8;
        TcpSeqNumber(((unit as u32) << 27 | (size as u32) << 24 | hash).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYN: TcpSeqNumber = TcpSeqNumber(-1);

    fn flow(port: u16) -> Flow {
        Flow::new(([192, 0, 2, 1], 80).into(), ([192, 0, 2, 2], port).into())
    }

    #[test]
    fn a_cookie_is_good_for_its_flow_and_for_a_short_time() {
        let cookies = SynCookies::default();
        for (second, segment_size) in [(0, 1_460), (63, 536), (64 * 33, 9_000)] {
            let now = Time::from_secs(second);
            let number = cookies.number(flow(1), SYN, segment_size, now);
            let size = cookies.segment_size(flow(1), SYN, number, now + Time::from_secs(64));
            assert_eq!(size, SEGMENT_SIZES.iter().copied().rfind(|size| *size <= segment_size));
            assert_eq!(cookies.segment_size(flow(1), SYN, number, now + Time::from_secs(128)), None);
            assert_eq!(cookies.segment_size(flow(2), SYN, number, now), None);
            assert_eq!(cookies.segment_size(flow(1), SYN + 1, number, now), None);
            assert_eq!(cookies.segment_size(flow(1), SYN, number + 1, now), None);
            assert_eq!(SynCookies::default().segment_size(flow(1), SYN, number, now), None);
        }
    }

    #[test]
    fn a_segment_size_that_is_too_small_is_the_smallest() {
        let cookies = SynCookies::default();
        let number = cookies.number(flow(1), SYN, 1, Time::ZERO);
        assert_eq!(cookies.segment_size(flow(1), SYN, number, Time::ZERO), Some(64));
    }
}
