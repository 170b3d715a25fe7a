// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The reference: each workload written plainly, byte by byte, without a library.

pub mod reading;
pub mod writing;

pub use reading::five_tuple;

/// The required result for a frame.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Expected<T> {
    /// The library must accept the frame, with exactly this result: the bytes afterwards, or the 5-tuple.
    Accept(T),
    /// The library must reject the frame and leave it unchanged.
    Reject,
    /// The library may reject the frame. If it accepts the frame, the result must be exactly this.
    Either(T),
}

/// The bytes of a frame after a rewriting workload.
pub type Rewritten = Expected<Vec<u8>>;
