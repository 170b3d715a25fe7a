// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Fuzz targets: what dpdk-rs makes of bytes from outside, and what the fuzz targets of the programs share.
//!
//! Each target is a function that panics if something is wrong. A fuzzer (`fuzz_targets/`, built with the feature
//! `libfuzzer`) calls it with bytes of its own making, the tests with those in `corpus/`.
#![forbid(unsafe_code)]
#![allow(clippy::expect_used, clippy::panic, reason = "a panic is how a target says what is wrong")]

mod environment;
mod fragments;
mod lists;
mod model;
mod operations;
mod reader;
mod segments;
mod telemetry;
mod texts;

pub use environment::{eal, packet, replay};
pub use fragments::reassembly;
pub use lists::acl_rules;
pub use operations::packet_operations;
pub use reader::Reader;
pub use segments::tcp_segments;
pub use telemetry::telemetry_answers;
pub use texts::{eal_arguments, mac_address};
