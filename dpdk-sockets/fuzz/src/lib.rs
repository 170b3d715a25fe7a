// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Fuzz target: a stack under any sequence of frames, calls and times.
//!
//! The target is a function that panics if something is wrong. A fuzzer (`fuzz_targets/`, built with the feature
//! `libfuzzer`) calls it with bytes of its own making, the tests with those in `corpus/`.
#![forbid(unsafe_code)]
#![allow(clippy::expect_used, clippy::panic, reason = "a panic is how a target says what is wrong")]

mod frames;
mod peers;
mod program;
mod text;
mod world;

pub use world::sockets_frames;
