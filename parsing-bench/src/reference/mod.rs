// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What is right: each workload written down plainly, byte by byte, with no library's help.

pub mod reading;
pub mod writing;

pub use reading::five_tuple;

/// What a library is to make of a frame.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Expected<T> {
    /// It is to be accepted, with exactly this: the bytes afterwards, or the 5-tuple.
    Accept(T),
    /// It is to be rejected, and left as it was.
    Reject,
    /// The library may reject it; if it accepts it, then with exactly this.
    Either(T),
}

/// The bytes of a frame after a workload that rewrites.
pub type Rewritten = Expected<Vec<u8>>;
