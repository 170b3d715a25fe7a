// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The stack against a peer whose segments are made by hand, and against another stack, on a wire in memory with a clock
//! that the test moves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod checksums;
mod ending;
mod forged;
mod hosts;
mod ipv6;
mod limits;
mod opening;
mod pair;
mod peer;
mod random;
mod runtime;
mod silence;
mod transfer;
mod udp;
mod undelivered;
