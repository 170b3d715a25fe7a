// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the gate compares: a digest of values, whatever the library, the language and the bytes.

/// FNV-1a with 64 bits, over values in little endian, and texts with their length before them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// A text.
    pub fn text(&mut self, text: &[u8]) {
        self.number(text.len() as u64);
        self.bytes(text);
    }

    /// A number of any width.
    pub fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// A floating-point number, by its bits.
    pub fn real(&mut self, number: f64) {
        self.number(number.to_bits());
    }

    /// What has been seen so far.
    pub fn value(self) -> u64 {
        self.0
    }
}
