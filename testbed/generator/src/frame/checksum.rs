// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The internet checksum (RFC 1071).

/// The checksum of a sum that is not yet folded.
#[inline(always)]
pub(crate) const fn checksum(sum: u64) -> u64 {
    let sum = (sum >> 32) + (sum & 0xffff_ffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    let sum = (sum >> 16) + (sum & 0xffff);
    !sum & 0xffff
}

/// The checksum of UDP, in which 0 means no checksum (RFC 768; forbidden over IPv6 by RFC 8200, section 8.1).
#[inline(always)]
pub(super) const fn udp_checksum(sum: u64) -> u64 {
    match checksum(sum) {
        0 => 0xffff,
        checksum => checksum,
    }
}

/// A time stamp's part in a sum.
#[inline(always)]
pub(super) const fn sum_of_time(time: u64) -> u64 {
    (time >> 32) + (time & 0xffff_ffff)
}

/// The sum of the 16-bit numbers in `bytes`; an odd last byte counts as the upper half of one.
pub(crate) fn sum_of(bytes: &[u8]) -> u64 {
    bytes
        .chunks(2)
        .map(|pair| pair.iter().zip([8, 0]).map(|(byte, shift)| u64::from(*byte) << shift).sum::<u64>())
        .sum()
}
