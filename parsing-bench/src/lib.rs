// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Packet parser crates on the same workloads.
//!
//! Each library implements [`contract::Library`] in a file of its own in [`impls`], where a registry turns them into a table
//! and unmangled symbols. [`mod@reference`], which is independent of all libraries, defines the correct results. The gate
//! compares every library with it, on mutants and random frames. Only kernels that pass are counted and timed.
//!
//! ```
//! use parsing_bench::{contract::{Library, Rejected, Rule}, impls::SafeRust};
//!
//! let rule = Rule { destination: [2, 0, 0, 0, 0, 1], source: [2, 0, 0, 0, 0, 2], address: [192, 0, 2, 1] };
//! assert_eq!(SafeRust::w2(&mut [0; 60], &rule), Err(Rejected));
//! ```
#![deny(unsafe_code)]

pub mod checksum;
pub mod contract;
pub mod frames;
#[cfg(feature = "gate")]
pub mod gate;
pub mod impls;
pub mod reference;
pub mod trace;
