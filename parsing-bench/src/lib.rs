// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Packet parser crates on the same work.
//!
//! Each library implements [`contract::Library`] in a file of its own below [`impls`], where a registry makes a table
//! and unmangled symbols of them. [`mod@reference`] says, independent of all of them, what is right; the gate holds every
//! library to it over mutants and drawn frames, and only what passes is counted and timed.
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
