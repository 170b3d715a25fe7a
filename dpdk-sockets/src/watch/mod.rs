// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a program shows of its stacks to those who run it.
//!
#![doc = include_str!("../../docs/watch.md")]

mod answers;
pub(crate) mod capture;
mod connection_info;
mod counters;
mod question;
mod stacks;
mod telemetry;

pub use connection_info::{ConnectionInfo, TcpState};
pub use counters::Counters;
pub(crate) use question::{MOST_LOOKED_AT, PAGE, Page, Query, Question, Sums, Watched};
pub use stacks::NameError;
pub use telemetry::Telemetry;
