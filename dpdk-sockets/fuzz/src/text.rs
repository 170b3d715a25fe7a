// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Text that says at each place which place it is.

/// The byte with this number.
const fn byte(number: u32) -> u8 {
    (number.wrapping_mul(0x9e37_79b1) >> 24) as u8
}

/// So many bytes from this number on.
pub(crate) fn text(first: u32, len: usize) -> Vec<u8> {
    (0..len).map(|at| byte(first.wrapping_add(at as u32))).collect()
}

/// Whether these are the bytes from this number on.
pub(crate) fn is_text(first: u32, bytes: &[u8]) -> bool {
    bytes.iter().zip(0..).all(|(found, at)| *found == byte(first.wrapping_add(at)))
}
