// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Errors of forwarding tables.

use crate::Errno;

/// Why a route was not added to or removed from a [`Fib`](super::Fib) or a [`Fib6`](super::Fib6).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FibError {
    /// The prefix is longer than an address.
    #[error("a prefix of {depth} bits: give from 0 to {longest}")]
    Depth {
        /// The requested length in bits.
        depth: u8,
        /// The length of an address in bits.
        longest: u8,
    },
    /// The next hop does not fit in an entry.
    #[error("next hop {next_hop}: the largest is {last}; raise it with FibBuilder::last_next_hop")]
    NextHop {
        /// The requested next hop.
        next_hop: u64,
        /// The largest next hop that fits.
        last: u64,
    },
    /// The table is full.
    #[error("the table is full with {0} routes: raise the number with FibBuilder::routes")]
    Routes(u32),
    /// The prefix is longer than 24 bits, and too few groups are free.
    #[error(
        "the table has {0} groups for prefixes longer than 24 bits, and too few are free: raise the number with FibBuilder::tbl8s"
    )]
    Groups(u32),
    /// There is no route for the prefix.
    #[error("there is no such route")]
    Missing,
    /// A DPDK call failed.
    #[error("{call}: {errno}")]
    Call {
        /// The name of the DPDK function.
        call: &'static str,
        /// The reason.
        errno: Errno,
    },
}
