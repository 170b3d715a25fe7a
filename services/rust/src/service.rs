// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What sets one service apart from another.

/// What a service has done with bytes of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// So many requests were answered.
    pub answered: u64,
    /// The beginning of another one has come, and not the rest.
    pub is_partial: bool,
    /// Nothing more is answered.
    pub is_last: bool,
}

/// One connection's side of a service.
pub trait Service: Default {
    /// Whether a whole request has to come within the time-out; else any of its bytes have to.
    const HAS_DEADLINE: bool;

    /// Takes bytes of the peer, and appends what answers them.
    fn take(&mut self, bytes: &[u8], output: &mut Vec<u8>) -> Taken;

    /// Appends the last answer of a connection whose peer was too slow. Returns whether there is one.
    fn time_out(&mut self, output: &mut Vec<u8>) -> bool;
}
