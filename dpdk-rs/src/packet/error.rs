// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Errors of packets.

/// Why a packet cannot be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PacketError {
    /// The data has another owner. It can be read but not written.
    #[error("the packet's data is shared with another packet: copy it to change it")]
    Shared,
    /// The segment has no room for this many bytes.
    #[error("{asked} bytes do not fit: the segment has room for {room}")]
    NoRoom {
        /// The requested number of bytes.
        asked: usize,
        /// The number of bytes that would fit.
        room: usize,
    },
    /// The segment has fewer bytes than are to be removed.
    #[error("{asked} bytes cannot be removed: the segment holds {len}")]
    TooShort {
        /// The number of bytes to remove.
        asked: usize,
        /// The length of the segment in bytes.
        len: usize,
    },
    /// The frame is shorter than the position at which to split it.
    #[error("the frame cannot be split at byte {at}: it has {len} bytes")]
    Beyond {
        /// The position at which to split the frame.
        at: usize,
        /// The length of the frame in bytes.
        len: usize,
    },
    /// No mbuf is available for the second part of the frame.
    #[error("no mbuf for the rest of the frame: the pool is exhausted, or 16,384 mbufs refer to its data")]
    NoMbuf,
    /// The pool's mbufs permanently have their buffers in memory of the program
    /// ([`MempoolBuilder::build_in`](crate::MempoolBuilder::build_in)).
    #[error(
        "the pool's mbufs keep their buffers, and cannot refer to other data: use a pool from MempoolBuilder::build"
    )]
    Pinned,
}
