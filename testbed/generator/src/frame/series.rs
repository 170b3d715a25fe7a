// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Consecutive frames with one time stamp: four additions derive each frame from the one before.
//!
//! As long as no range of [`Ranges`](crate::addresses::Ranges) starts again, every field increases by a constant from frame
//! to frame. So do the sums over the fields, and the checksums decrease by the same (RFC 1624, section 3, with differences
//! known beforehand). Fields and checksums are parts of the words of a head, so each word changes by a constant, until a
//! checksum would fall below zero.

use super::{
    HEAD_LEN, Stamp, Template, WORDS_AT, Words, are_words_of,
    checksum::{checksum, sum_of_time, udp_checksum},
};
use crate::addresses::FieldSequence;

/// The bytes before the first word, and this.
const START_LEN: usize = WORDS_AT + 8;

/// The frames of a stream, in order.
#[derive(Debug)]
pub(crate) struct Series {
    fields: FieldSequence,
    template: Template,
    start: [u8; START_LEN],
    /// The number of the current frame.
    sequence: u64,
    /// For how many frames from the current one the strides below apply.
    left: u64,
    /// The words of the current frame that hold addresses and ports, as numbers, without checksums.
    fragment: u64,
    addresses: u64,
    ports: u64,
    /// The sums from which the checksums are computed, without the time.
    ip_sum: u64,
    udp_sum: u64,
    addresses_stride: u64,
    ports_stride: u64,
    ip_stride: u64,
    udp_stride: u64,
}

/// The heads of frames with one time stamp: the current head, and the steps to the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heads {
    /// The constant part: what comes before the words, and the first word.
    start: [u8; START_LEN],
    /// The first and the last never change, and are in network byte order; the others are numbers.
    words: Words,
    /// The increments of the other words.
    strides: [u64; 4],
}

impl Series {
    pub(crate) fn new(template: Template, fields: FieldSequence) -> Self {
        let strides = fields.strides();
        let [src_ip, dst_ip, src_udp, dst_udp] = strides;
        let mut start = [0; START_LEN];
        let (before, first_word) = start.split_at_mut(WORDS_AT);
        before.copy_from_slice(&template.start);
        first_word.copy_from_slice(&template.first_word.to_ne_bytes());
        let ip_stride = if template.ipv6 { 0 } else { src_ip + dst_ip };
        Self {
            fields,
            template,
            start,
            sequence: 0,
            left: 0,
            fragment: 0,
            addresses: 0,
            ports: 0,
            ip_sum: 0,
            udp_sum: 0,
            addresses_stride: src_ip << 48 | dst_ip << 16 | src_udp,
            ports_stride: dst_udp << 48,
            ip_stride,
            // The sequence number increases too.
            udp_stride: strides.iter().sum::<u64>() + 1,
        }
    }

    /// The same frames as probes.
    pub(crate) fn probe(&self) -> Self {
        Self::new(self.template.probe(), self.fields.clone())
    }

    pub(crate) const fn template(&self) -> &Template {
        &self.template
    }

    /// The heads of the frame of `stamp` and the frames after it, and their number, at least 1.
    ///
    /// Correct for every frame, and fast for frames close to the previous request.
    #[inline]
    pub(crate) fn heads(&mut self, stamp: Stamp) -> (Heads, u64) {
        let steps = stamp.sequence.wrapping_sub(self.sequence);
        if steps < self.left {
            self.skip(steps);
        } else {
            self.begin(stamp.sequence);
        }
        let ip_checksum = checksum(self.ip_sum);
        let udp_checksum = udp_checksum(self.udp_sum + sum_of_time(stamp.time));
        let heads = Heads {
            start: self.start,
            words: [
                self.template.first_word,
                self.fragment.wrapping_add(ip_checksum << 16),
                self.addresses,
                self.ports | udp_checksum << 16,
                self.template.identity | stamp.sequence,
                stamp.time.to_be(),
            ],
            strides: [
                (self.ip_stride << 16).wrapping_neg(),
                self.addresses_stride,
                self.ports_stride.wrapping_sub(self.udp_stride << 16),
                1,
            ],
        };
        // Strides of sums are below 8, so before that no checksum goes below zero, nor the one for UDP to zero.
        (heads, self.left.min(ip_checksum.min(udp_checksum - 1) / 8 + 1))
    }

    /// Advances by `steps` frames, fewer than are left.
    #[inline(always)]
    const fn skip(&mut self, steps: u64) {
        self.sequence += steps;
        self.left -= steps;
        self.addresses += steps * self.addresses_stride;
        self.ports += steps * self.ports_stride;
        self.ip_sum += steps * self.ip_stride;
        self.udp_sum += steps * self.udp_stride;
    }

    /// Starts again at a frame that additions do not reach.
    #[inline(never)]
    fn begin(&mut self, sequence: u64) {
        let fields = self.fields.go_to(sequence);
        self.sequence = sequence;
        self.left = self.fields.stretch();
        [self.fragment, self.addresses, self.ports] = self.template.words_of_fields(fields);
        (self.ip_sum, self.udp_sum) = (self.template.ip_sum::<true>(fields), self.template.udp_sum(fields) + sequence);
    }
}

impl Heads {
    /// Writes the head of the current frame.
    #[inline(always)]
    pub(crate) fn write(&self, head: &mut [u8; HEAD_LEN]) {
        let [_, fragment, addresses, ports, identity, time] = self.words;
        let (start, rest) = head.split_at_mut(START_LEN);
        start.copy_from_slice(&self.start);
        // Word by word: compilers would otherwise use vectors, in which swapping bytes is expensive.
        let (pairs, last) = rest.as_chunks_mut();
        for (place, pair) in pairs.iter_mut().zip([pair(fragment, addresses), pair(ports, identity)]) {
            *place = pair.to_be_bytes();
        }
        last.copy_from_slice(&time.to_ne_bytes());
    }

    /// Whether bytes 12..60 of the head are those of the current frame.
    #[inline(always)]
    pub(crate) fn matches(&self, head: &[u8; HEAD_LEN]) -> bool {
        let [first, fragment, addresses, ports, identity, time] = self.words;
        are_words_of(head, [first, fragment.to_be(), addresses.to_be(), ports.to_be(), identity.to_be(), time])
    }

    /// Advances to the next frame.
    #[inline(always)]
    pub(crate) fn step(&mut self) {
        for (word, stride) in self.words.iter_mut().skip(1).zip(self.strides) {
            // After the last frame an overflow has no effect.
            *word = word.wrapping_add(stride);
        }
    }
}

const fn pair(first: u64, second: u64) -> u128 {
    (first as u128) << 64 | second as u128
}
