// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Serialization libraries on the same work. `README.md` says what is compared, and `cpp/` has the same in C++.

#![forbid(unsafe_code)]

pub mod cases;
pub mod contract;
pub mod digest;
pub mod frames;
pub mod libraries;
pub mod random;
