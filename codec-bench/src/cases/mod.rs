// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What the cases are, for all libraries alike: constants, rules, and numbers that a client draws.
//!
//! `cpp/cases/` has the same. A library draws in the same order, so that all have the same values.

pub mod carsales;
pub mod catrank;
pub mod eval;
