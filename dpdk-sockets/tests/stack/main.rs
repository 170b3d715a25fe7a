// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The stack against a peer whose segments are made by hand, and against another stack, on a wire in memory with a clock
//! that the test moves.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

mod acknowledgments;
mod addresses;
mod arp;
mod automatic;
mod capture;
mod checksums;
mod clauses;
mod congestion;
mod crowd;
mod cutting;
mod edit;
mod ending;
mod endurance;
mod flags;
mod flood;
mod forged;
mod group;
mod growth;
mod hosts;
mod impaired;
mod ipv6;
mod limits;
mod opening;
mod options;
mod pair;
mod peer;
mod random;
mod retransmission;
mod runtime;
mod sequence;
mod silence;
mod states;
mod time_wait;
mod trace;
mod transfer;
mod udp;
mod undelivered;
mod watch;
mod window;
