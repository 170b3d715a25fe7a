// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The addresses and UDP ports of the frames: ranges, and how they step from frame to frame.
//!
//! All four fields step by one with each frame and start again at the end of their range. Ranges of equal size would always
//! form the same pairs; so when the longest range starts again, the next one is shifted by one (a carry), and so on. Every
//! combination occurs exactly once before the first one repeats.

use core::{
    net::{Ipv4Addr, Ipv6Addr},
    str::FromStr,
};

/// A range of IPv4 addresses, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IpRange {
    pub(crate) first: u32,
    pub(crate) last: u32,
}

/// A range of UDP ports, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PortRange {
    pub(crate) first: u16,
    pub(crate) last: u16,
}

/// Addresses of either version. Those of IPv6, of which the first is listed, are equal but for their last 32 bits: the range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Addresses {
    V4(IpRange),
    V6([u8; 16], IpRange),
}

impl FromStr for Addresses {
    type Err = ();

    /// `A`, `A-B` or `A/LEN`.
    fn from_str(text: &str) -> Result<Self, ()> {
        if !text.contains(':') {
            return text.parse().map(Self::V4);
        }
        let address = |text: &str| text.parse::<Ipv6Addr>().map(Ipv6Addr::to_bits).map_err(|_| ());
        let (first, last) = if let Some((network, len)) = text.split_once('/') {
            let len = decimal(len).filter(|len| (96..=128).contains(len)).ok_or(())?;
            let hosts = (1_u128 << (128 - len)) - 1;
            (address(network)? & !hosts, address(network)? | hosts)
        } else {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            (address(first)?, address(last)?)
        };
        let range = IpRange { first: first as u32, last: last as u32 };
        let near = first >> 32 == last >> 32 && range.first <= range.last;
        if near { Ok(Self::V6(first.to_be_bytes(), range)) } else { Err(()) }
    }
}

impl IpRange {
    pub(crate) const fn network(address: [u8; 4], prefix_len: u32) -> Self {
        let host = match u32::MAX.checked_shr(prefix_len) {
            Some(host) => host,
            None => 0,
        };
        let first = u32::from_be_bytes(address) & !host;
        Self { first, last: first | host }
    }
}

impl PortRange {
    pub(crate) const fn new(first: u16, last: u16) -> Self {
        Self { first, last }
    }
}

impl FromStr for IpRange {
    type Err = ();

    /// `A`, `A-B` or `A/LEN`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let address = |text: &str| text.parse::<Ipv4Addr>().map_err(|_| ());
        if let Some((network, len)) = text.split_once('/') {
            let len = decimal(len).and_then(|len| u32::try_from(len).ok()).filter(|len| *len <= 32).ok_or(())?;
            return Ok(Self::network(address(network)?.octets(), len));
        }
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let range = Self { first: address(first)?.to_bits(), last: address(last)?.to_bits() };
        if range.first <= range.last { Ok(range) } else { Err(()) }
    }
}

impl FromStr for PortRange {
    type Err = ();

    /// `a` or `a-b`.
    fn from_str(text: &str) -> Result<Self, ()> {
        let port = |text| decimal(text).and_then(|port| u16::try_from(port).ok()).ok_or(());
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let range = Self { first: port(first)?, last: port(last)? };
        if range.first <= range.last { Ok(range) } else { Err(()) }
    }
}

fn decimal(text: &str) -> Option<u64> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

/// The ranges of all fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ranges {
    pub(crate) src_ip: IpRange,
    pub(crate) dst_ip: IpRange,
    pub(crate) src_udp: PortRange,
    pub(crate) dst_udp: PortRange,
}

impl Ranges {
    /// How many flows there can be.
    pub(crate) fn combinations(&self) -> u128 {
        let ips = [self.src_ip, self.dst_ip].map(|range| u128::from(range.last - range.first) + 1);
        let ports = [self.src_udp, self.dst_udp].map(|range| u128::from(range.last - range.first) + 1);
        ips.into_iter().chain(ports).product()
    }
}

/// The fields of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Fields {
    pub(crate) src_ip: u32,
    pub(crate) dst_ip: u32,
    pub(crate) src_udp: u16,
    pub(crate) dst_udp: u16,
}

/// One field as it steps.
#[derive(Clone, Copy, Debug)]
struct Counter {
    first: u32,
    value: u32,
    last: u32,
}

impl Counter {
    const fn of(first: u32, last: u32) -> Self {
        Self { first, value: first, last }
    }

    const fn size(self) -> u64 {
        (self.last - self.first) as u64 + 1
    }

    /// The increment from frame to frame, until the range starts again.
    const fn stride(self) -> u64 {
        (self.first != self.last) as u64
    }

    /// The number of frames, including the current one, before the range starts again.
    const fn left(self) -> u64 {
        if self.first == self.last { u64::MAX } else { (self.last - self.value) as u64 + 1 }
    }

    #[inline(always)]
    const fn step(&mut self) {
        self.value = if self.value == self.last { self.first } else { self.value + 1 };
    }
}

/// The fields of the frames, by sequence number.
#[derive(Clone, Debug)]
pub(crate) struct FieldSequence {
    /// Source and destination address, source and destination port.
    counters: [Counter; 4],
    /// The indices of `counters`, the longest range first, which makes carries rare.
    order: [usize; 4],
    /// The sequence number of the counters' current values.
    at: u64,
    /// The number of frames until the longest range starts again, or all of them.
    until_carry: u64,
    /// The number of frames after which all ranges start again.
    flows: u64,
}

impl FieldSequence {
    pub(crate) fn new(ranges: &Ranges) -> Self {
        let counters = [
            Counter::of(ranges.src_ip.first, ranges.src_ip.last),
            Counter::of(ranges.dst_ip.first, ranges.dst_ip.last),
            Counter::of(ranges.src_udp.first.into(), ranges.src_udp.last.into()),
            Counter::of(ranges.dst_udp.first.into(), ranges.dst_udp.last.into()),
        ];
        let mut order = [0, 1, 2, 3];
        order.sort_by_key(|index| core::cmp::Reverse(counters.get(*index).map(|counter| counter.size())));
        let mut sequence = Self { counters, order, at: 0, until_carry: 0, flows: u64::MAX };
        sequence.seek(0);
        sequence
    }

    /// Starts again after `flows` frames, at least 1 and at most [`Ranges::combinations`]; `None`: after all of these.
    pub(crate) fn of_flows(mut self, flows: Option<u64>) -> Self {
        self.flows = flows.unwrap_or(u64::MAX);
        self.seek(0);
        self
    }

    /// The fields of frame `number`. Correct for every number, and fast for the one after the previous request.
    #[inline]
    pub(crate) fn fields_of(&mut self, number: u64) -> Fields {
        if number != self.at {
            self.seek(number);
        }
        let fields = self.fields();
        self.step();
        fields
    }

    /// The fields of frame `number`, where [`Self::stretch`] then starts. Correct for every number, and fast within a stretch.
    pub(crate) fn go_to(&mut self, number: u64) -> Fields {
        let steps = number.wrapping_sub(self.at);
        if steps <= self.stretch() {
            self.advance(steps);
        } else {
            self.seek(number);
        }
        self.fields()
    }

    /// The increments of the fields from frame to frame within a stretch, at most 1: source and destination address, source
    /// and destination port.
    pub(crate) fn strides(&self) -> [u64; 4] {
        self.counters.map(Counter::stride)
    }

    /// The number of frames, including the current one and so at least 1, before a field does not increase by its stride or
    /// the upper half of the source address changes.
    pub(crate) fn stretch(&self) -> u64 {
        let [src_ip, ..] = &self.counters;
        let half = 0x1_0000 - u64::from(src_ip.value & 0xffff);
        self.counters.iter().fold(self.until_carry.min(half), |least, counter| least.min(counter.left()))
    }

    /// Advances by `steps` frames, at most [`Self::stretch`].
    fn advance(&mut self, steps: u64) {
        self.at += steps;
        self.until_carry -= steps;
        if self.until_carry == 0 {
            self.seek(self.at);
            return;
        }
        for counter in &mut self.counters {
            let value = u64::from(counter.value) + steps * counter.stride();
            counter.value = if value > u64::from(counter.last) { counter.first } else { value as u32 };
        }
    }

    #[inline(always)]
    const fn fields(&self) -> Fields {
        let [src_ip, dst_ip, src_udp, dst_udp] = &self.counters;
        Fields {
            src_ip: src_ip.value,
            dst_ip: dst_ip.value,
            src_udp: src_udp.value as u16,
            dst_udp: dst_udp.value as u16,
        }
    }

    #[inline]
    fn step(&mut self) {
        self.at += 1;
        self.until_carry -= 1;
        if self.until_carry == 0 {
            self.seek(self.at);
        } else {
            self.counters.iter_mut().for_each(Counter::step);
        }
    }

    /// `number` in the mixed radix of the ranges' sizes has a digit for each range; a field is the sum of the digits up to
    /// its own. Each field determines its digit once the earlier digits are known, so no combination repeats.
    #[cold]
    fn seek(&mut self, number: u64) {
        let place_of_flow = number % self.flows;
        let mut rest = place_of_flow;
        let mut sum = 0;
        for (place, index) in self.order.into_iter().enumerate() {
            let Some(counter) = self.counters.get_mut(index) else { continue };
            let size = counter.size();
            let digit = rest % size;
            rest /= size;
            sum += digit;
            counter.value = counter.first + (sum % size) as u32;
            if place == 0 {
                // A range of one value never needs a carry: then all ranges have one value.
                self.until_carry = if size == 1 { u64::MAX } else { (size - digit).min(self.flows - place_of_flow) };
            }
        }
        self.at = number;
    }
}

#[cfg(test)]
mod tests {
    use super::{Addresses, FieldSequence, IpRange, PortRange, Ranges};
    use core::net::Ipv6Addr;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn ranges(sizes: [u32; 4]) -> Ranges {
        let [a, b, c, d] = sizes.map(|size| size - 1);
        Ranges {
            src_ip: IpRange { first: 0xc612_0000, last: 0xc612_0000 + a },
            dst_ip: IpRange { first: u32::MAX - b, last: u32::MAX },
            src_udp: PortRange::new(10_000, 10_000 + c as u16),
            dst_udp: PortRange::new(u16::MAX - d as u16, u16::MAX),
        }
    }

    proptest! {
        #[test]
        fn every_combination_occurs_once_a_period(sizes in prop::array::uniform4(1_u32..7)) {
            let mut sequence = FieldSequence::new(&ranges(sizes));
            let period: u64 = sizes.iter().map(|size| u64::from(*size)).product();
            let seen: HashSet<_> = (0..period).map(|number| sequence.fields_of(number)).collect();
            prop_assert_eq!(seen.len() as u64, period);
            let first = FieldSequence::new(&ranges(sizes)).fields_of(0);
            prop_assert_eq!(sequence.fields_of(period), first);
        }

        #[test]
        fn stepping_and_jumping_agree(sizes in prop::array::uniform4(1_u32..70), start in 0_u64..1 << 40, jumps in
            prop::collection::vec((0_u64..1 << 47, 1_u64..200), 1..8))
        {
            let mut stepping = FieldSequence::new(&ranges(sizes));
            for (jump, count) in jumps {
                for number in (start + jump)..(start + jump + count) {
                    let fields = stepping.fields_of(number);
                    let mut jumping = FieldSequence::new(&ranges(sizes));
                    jumping.seek(number);
                    prop_assert_eq!(fields, jumping.fields_of(number));
                }
            }
        }

        #[test]
        fn stretches_and_jumps_agree(sizes in prop::array::uniform4(1_u32..300), low in 0xff00_u32..=0xffff, start in
            0_u64..100_000, counts in prop::collection::vec(1_u64..100, 1..20))
        {
            let mut ranges = ranges(sizes);
            ranges.src_ip = IpRange { first: low, last: low + sizes[0] - 1 };
            let (mut stretching, mut jumping) = (FieldSequence::new(&ranges), FieldSequence::new(&ranges));
            let [src_ip, dst_ip, src_udp, dst_udp] = stretching.strides().map(|stride| stride as u32);
            let mut number = start;
            for count in counts {
                let first = stretching.go_to(number);
                let count = count.min(stretching.stretch());
                prop_assert!(count > 0);
                for steps in 0..count as u32 {
                    jumping.seek(number + u64::from(steps));
                    let next = jumping.fields();
                    prop_assert_eq!(next.src_ip, first.src_ip + steps * src_ip);
                    prop_assert_eq!(next.src_ip >> 16, first.src_ip >> 16);
                    prop_assert_eq!(next.dst_ip, first.dst_ip + steps * dst_ip);
                    prop_assert_eq!(u32::from(next.src_udp), u32::from(first.src_udp) + steps * src_udp);
                    prop_assert_eq!(u32::from(next.dst_udp), u32::from(first.dst_udp) + steps * dst_udp);
                }
                number += count;
            }
        }

        /// Exactly as many flows as asked for, of the ranges' combinations the first, again and again.
        #[test]
        fn so_many_flows_come_again_and_again(sizes in prop::array::uniform4(1_u32..7), share in 0.0..=1.0, at in 0_u64..9) {
            let combinations = ranges(sizes).combinations() as u64;
            let flows = ((combinations as f64 * share) as u64).clamp(1, combinations);
            let mut sequence = FieldSequence::new(&ranges(sizes)).of_flows(Some(flows));
            let mut all = FieldSequence::new(&ranges(sizes));
            let first = at * flows;
            let once: Vec<_> = (first..first + flows).map(|number| sequence.fields_of(number)).collect();
            prop_assert_eq!(&once, &(0..flows).map(|number| all.fields_of(number)).collect::<Vec<_>>());
            prop_assert_eq!(once.iter().collect::<HashSet<_>>().len() as u64, flows);
            let again: Vec<_> = (first + flows..first + 2 * flows).map(|number| sequence.go_to(number)).collect();
            prop_assert_eq!(again, once);
        }

        #[test]
        fn fields_move_with_each_frame_but_for_carries(
            sizes in prop::array::uniform4(5_u32..70),
            number in 0_u64..10_000,
        ) {
            // At a carry the digits change all at once, and their sum may come back to where it was.
            prop_assume!(sizes.iter().all(|size| (number + 1) % u64::from(*size) != 0));
            let mut sequence = FieldSequence::new(&ranges(sizes));
            let (one, next) = (sequence.fields_of(number), sequence.fields_of(number + 1));
            prop_assert_ne!(one.src_udp, next.src_udp);
            prop_assert!(one.src_ip != next.src_ip || one.dst_ip != next.dst_ip);
        }
    }

    #[test]
    fn the_whole_address_space_is_a_range() {
        let all = IpRange::network([0; 4], 0);
        let mut sequence = FieldSequence::new(&Ranges { src_ip: all, ..ranges([1; 4]) });
        assert_eq!(sequence.fields_of(u64::from(u32::MAX)).src_ip, u32::MAX);
        assert_eq!(sequence.fields_of(1 << 32).src_ip, 0);
    }

    #[test]
    fn texts() {
        assert_eq!("198.18.0.0/16".parse(), Ok(IpRange { first: 0xc612_0000, last: 0xc612_ffff }));
        assert_eq!("198.18.7.9/24".parse(), Ok(IpRange { first: 0xc612_0700, last: 0xc612_07ff }));
        assert_eq!("1.2.3.4/32".parse::<IpRange>(), "1.2.3.4".parse());
        assert_eq!("1.2.3.4-1.2.4.0".parse(), Ok(IpRange { first: 0x0102_0304, last: 0x0102_0400 }));
        assert_eq!("7".parse(), Ok(PortRange::new(7, 7)));
        assert_eq!("10000-10999".parse(), Ok(PortRange::new(10_000, 10_999)));
        for bad in ["", "1.2.3", "1.2.3.4/33", "1.2.3.4/", "1.2.3.4/+8", "1.2.3.4-1.2.3.3", "1.2.3.4-", "a.b.c.d"] {
            assert_eq!(bad.parse::<IpRange>(), Err(()), "{bad}");
        }
        let address = |text: &str| text.parse::<Ipv6Addr>().map(|address| address.octets());
        let range = |first, last| IpRange { first, last };
        for (text, first, low) in [
            ("2001:2::1", "2001:2::1", range(1, 1)),
            ("2001:2::1:7-2001:2::2:6", "2001:2::1:7", range(0x1_0007, 0x2_0006)),
            ("2001:2::ab:cdef/112", "2001:2::ab:0", range(0xab_0000, 0xab_ffff)),
            ("2001:2::/96", "2001:2::", range(0, u32::MAX)),
            ("2001:2::9/128", "2001:2::9", range(9, 9)),
        ] {
            let expected = address(first).map(|first| Addresses::V6(first, low));
            assert_eq!(text.parse().ok(), expected.ok(), "{text}");
        }
        assert_eq!("1.2.3.4".parse(), Ok(Addresses::V4(range(0x0102_0304, 0x0102_0304))));
        for bad in
            ["", ":", "2001:2::/95", "2001:2::/129", "2001:2::2-2001:2::1", "2001:2::1-2001:2:0:1::2", "::1-1.2.3.4"]
        {
            assert_eq!(bad.parse::<Addresses>(), Err(()), "{bad}");
        }
        for bad in ["", "65536", "2-1", "-", "1-", "+1", "1-2-3"] {
            assert_eq!(bad.parse::<PortRange>(), Err(()), "{bad}");
        }
    }
}
