// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Errors of reorder buffers.

/// Why a packet was not inserted. It is returned with the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReorderError {
    /// The number is below the minimum, or too far above it: the packet is late, or many others are lost (`ERANGE`).
    #[error("sequence number {seqn} is out of range: the range is {size} numbers from {min} on")]
    Range {
        /// The packet's sequence number.
        seqn: u32,
        /// The minimum of the range.
        min: u32,
        /// How many numbers from there on are in range.
        size: usize,
    },
    /// The packet would need to make others ready, for which there is no room: drain, then insert it again (`ENOSPC`).
    #[error("no room for more packets: drain the buffer, and insert the packet again")]
    Full,
    /// A packet with this number is already waiting.
    #[error("a packet with sequence number {0} is already waiting")]
    Duplicate(u32),
    /// The buffer is not empty, so the sequence numbers cannot be restarted.
    #[error("the buffer holds {0} packets: drain them first")]
    NotEmpty(usize),
}
