// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Fuzz targets: the generator's command line, and what it makes of the frames that come back.
//!
//! Each target is a function that panics if something is wrong. A fuzzer (`fuzz_targets/`, built with the feature
//! `libfuzzer`) calls it with bytes of its own making, the tests with those in `corpus/`.
#![forbid(unsafe_code)]
#![allow(clippy::expect_used, clippy::panic, reason = "a panic is how a target says what is wrong")]

mod command_line;
mod frames;
mod naive;
mod sent;

// The program's own modules, of which each target needs some parts.
#[allow(dead_code)]
#[path = "../../src/addresses.rs"]
mod addresses;
#[allow(dead_code, unused_imports)]
#[path = "../../src/args/mod.rs"]
mod args;
#[allow(dead_code)]
#[path = "../../src/error.rs"]
mod error;
#[allow(dead_code)]
#[path = "../../src/frame/mod.rs"]
mod frame;
#[allow(dead_code)]
#[path = "../../src/latency.rs"]
mod latency;
#[allow(dead_code)]
#[path = "../../src/neighbours.rs"]
mod neighbours;
#[allow(dead_code)]
#[path = "../../src/outage.rs"]
mod outage;
#[allow(dead_code)]
#[path = "../../src/pacing.rs"]
mod pacing;
#[allow(dead_code)]
#[path = "../../src/queues.rs"]
mod queues;
#[allow(dead_code)]
#[path = "../../src/receive.rs"]
mod receive;
#[allow(dead_code)]
#[path = "../../src/sequence.rs"]
mod sequence;
#[allow(dead_code)]
#[path = "../../src/transmit.rs"]
mod transmit;

pub use command_line::generator_arguments;
pub use frames::generator_frames;
pub use naive::generator_sequence;
