// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Routes in forwarding tables (FIBs). IPv4 and IPv6 differ in their addresses and in how DPDK stores them.

mod builder;
mod error;
mod routes;
mod v4;
mod v6;

pub use builder::FibBuilder;
pub use error::FibError;
pub use v4::Fib;
pub use v6::Fib6;
