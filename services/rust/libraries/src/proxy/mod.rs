// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Joins each connection to one of its own to a back end, and passes the bytes of both on.

pub mod tokio;
#[cfg(feature = "uring")]
pub mod uring;

use core::fmt;

/// So much is read at a time.
const ROOM: usize = 16_384;

/// What has become of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Both directions have ended.
    Over,
    /// The back end has not taken the connection.
    Refused,
    /// By a reset, or since nothing has moved.
    Broken,
}

/// What has become of connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Counters {
    connections: u64,
    refused: u64,
    over_limit: u64,
    broken: u64,
}

impl Counters {
    fn count(&mut self, end: End) {
        match end {
            End::Over => self.connections += 1,
            End::Refused => self.refused += 1,
            End::Broken => {
                self.connections += 1;
                self.broken += 1;
            }
        }
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { connections, refused, over_limit, broken } = self;
        write!(f, "{connections} connections, {refused} refused, {over_limit} over the limit, {broken} broken")
    }
}
