// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Holes that were found in other bindings, by number, and how each is closed here. What the compiler refuses is in
//! `tests/compile_fail.rs`; these run, and look at contents, counts and addresses, so that a hole shows without a sanitizer too.
//! `combiners`, `names` and `requests` are about holes that were found in this crate.

mod combiners;
mod data;
mod devices;
mod frames;
mod guests;
mod lcores;
mod names;
mod owners;
mod pools;
mod requests;
