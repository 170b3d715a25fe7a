// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The Internet checksum, for libraries that lack it: updated incrementally, or computed over whole parts.
//!
//! All sums are over words in the machine's byte order. The order cancels out (RFC 1071, section 2 (B)), as long as a
//! checksum is read and written in the same way. Checksums are therefore byte arrays here.

/// The change of a checksum when a 32-bit field that it covers changes: `~m + m'` of RFC 1624, equation 3.
#[derive(Clone, Copy, Debug)]
pub struct Change(u32);

impl Change {
    /// The change of a field from one value to another.
    #[inline(always)]
    pub const fn of(old: [u8; 4], new: [u8; 4]) -> Self {
        let sum = !u32::from_ne_bytes(old) as u64 + u32::from_ne_bytes(new) as u64;
        // Half folded: 18 bits, to which a checksum can be added.
        Self((sum & 0xffff) as u32 + (sum >> 16) as u32)
    }

    /// The checksum of an IPv4 header after the change.
    #[inline(always)]
    pub const fn update(self, checksum: [u8; 2]) -> [u8; 2] {
        self.updated(u16::from_ne_bytes(checksum)).to_ne_bytes()
    }

    /// The checksum of a UDP datagram after the change. Never 0, which means no checksum.
    #[inline(always)]
    pub const fn update_udp(self, checksum: [u8; 2]) -> [u8; 2] {
        let updated = match u16::from_ne_bytes(checksum) {
            0 => 0,
            checksum => never_zero(self.updated(checksum)),
        };
        updated.to_ne_bytes()
    }

    #[inline(always)]
    const fn updated(self, checksum: u16) -> u16 {
        !fold(!checksum as u32 + self.0)
    }
}

/// A sum over parts of a packet.
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
pub struct Sum(u64);

impl Sum {
    /// The empty sum.
    #[inline(always)]
    pub const fn new() -> Self {
        Self(0)
    }

    /// Adds a 16-bit field.
    #[inline(always)]
    pub const fn word(self, field: [u8; 2]) -> Self {
        Self(self.0 + u16::from_ne_bytes(field) as u64)
    }

    /// Adds a 32-bit field.
    #[inline(always)]
    pub const fn double_word(self, field: [u8; 4]) -> Self {
        Self(self.0 + u32::from_ne_bytes(field) as u64)
    }

    /// Adds a part of at most the length of a packet, which begins at an even distance from the others.
    #[inline(always)]
    pub fn bytes(mut self, part: &[u8]) -> Self {
        let (double_words, rest) = part.as_chunks::<4>();
        for field in double_words {
            self = self.double_word(*field);
        }
        let (words, last) = rest.as_chunks::<2>();
        for field in words {
            self = self.word(*field);
        }
        match last {
            [byte] => self.word([*byte, 0]),
            _ => self,
        }
    }

    /// The checksum of an IPv4 header.
    #[inline(always)]
    pub const fn checksum(self) -> [u8; 2] {
        self.folded().to_ne_bytes()
    }

    /// The checksum of a UDP datagram, which is never 0.
    #[inline(always)]
    pub const fn checksum_udp(self) -> [u8; 2] {
        never_zero(self.folded()).to_ne_bytes()
    }

    #[inline(always)]
    const fn folded(self) -> u16 {
        !fold((self.0.wrapping_add(self.0.rotate_left(32)) >> 32) as u32)
    }
}

/// The ones' complement sum of both halves: adding the swapped halves brings the carry of the lower to the upper.
#[inline(always)]
const fn fold(sum: u32) -> u16 {
    (sum.wrapping_add(sum.rotate_left(16)) >> 16) as u16
}

/// 0xffff instead of 0, which is the same number in ones' complement.
#[inline(always)]
const fn never_zero(checksum: u16) -> u16 {
    if checksum == 0 { 0xffff } else { checksum }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1624, section 4: a field goes from 0x5555 to 0x3285 below a checksum of 0xdd2f.
    #[test]
    fn the_example_of_the_rfc() {
        let change = Change::of([0x55, 0x55, 0, 0], [0x32, 0x85, 0, 0]);
        assert_eq!(change.update([0xdd, 0x2f]), [0x00, 0x00]);
        assert_eq!(change.update_udp([0xdd, 0x2f]), [0xff, 0xff]);
        assert_eq!(change.update_udp([0, 0]), [0, 0]);
    }

    /// The example of RFC 1071, section 3, with a byte more that stands alone.
    #[test]
    fn a_sum_of_any_length() {
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Sum::new().bytes(&bytes).checksum(), [!0xdd, !0xf2]);
        assert_eq!(Sum::new().bytes(&bytes).bytes(&[1]).checksum(), [!0xde, !0xf2]);
        assert_eq!(Sum::new().checksum(), [0xff, 0xff]);
        assert_eq!(Sum::new().word([0xff, 0xff]).checksum_udp(), [0xff, 0xff]);
    }

    #[test]
    fn an_update_comes_to_what_a_new_sum_does() {
        let mut header = *b"\x45\x00\x00\x1c\x12\x34\x40\x00\x40\x11\x00\x00\xc0\x00\x02\x01\xc6\x33\x64\x07";
        let before = Sum::new().bytes(&header).checksum();
        let new = [203, 0, 113, 200];
        let change = Change::of([198, 51, 100, 7], new);
        header[16..].copy_from_slice(&new);
        assert_eq!(change.update(before), Sum::new().bytes(&header).checksum());
    }
}
