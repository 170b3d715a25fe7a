// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Fuzz targets: what l2fwd-rs makes of bytes from outside, compared with what its twin in C makes of them.
//!
//! Each target is a function that panics if something is wrong. A fuzzer (`fuzz_targets/`, built with the feature
//! `libfuzzer`) calls it with bytes of its own making, the tests with those in `corpus/`.
#![allow(clippy::expect_used, clippy::panic, reason = "a panic is how a target says what is wrong")]
#![allow(unexpected_cfgs, reason = "the feature `rewrite` is the program's, not this crate's")]

mod command_line;
mod error;
mod frames;
mod twin;

// The program's own modules, without what its feature `rewrite` adds, of which each target needs some parts.
#[allow(dead_code)]
#[path = "../../src/args.rs"]
mod args;
#[allow(dead_code)]
#[path = "../../src/forward.rs"]
mod forward;
#[allow(dead_code)]
#[path = "../../src/gaps.rs"]
mod gaps;
#[allow(dead_code)]
#[path = "../../src/idle.rs"]
mod idle;
#[allow(dead_code)]
#[path = "../../src/port.rs"]
mod port;
#[allow(dead_code)]
#[path = "../../src/queue_pair.rs"]
mod queue_pair;
#[allow(dead_code)]
#[path = "../../src/topology.rs"]
mod topology;

pub use command_line::forwarder_arguments;
pub use frames::forwarder_frames;
