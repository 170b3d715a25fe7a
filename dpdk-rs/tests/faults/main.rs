// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! dpdk-rs when things go wrong: no memory, no mbufs, devices that refuse or disappear, frames of any length, fork.
//! Errors are values, and unaffected parts keep working.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[allow(dead_code, reason = "shared with the tests in eal/")]
#[path = "../eal/capture.rs"]
mod capture;
mod chains;
mod closing;
mod dry;
mod external;
mod forked;
mod forks;
#[allow(dead_code, reason = "shared with the tests in eal/")]
#[path = "../eal/frames.rs"]
mod frames;
mod heap;
mod init;
mod interposer;
mod kernel;
mod lengths;
mod namespace;
mod pages;
#[allow(dead_code, reason = "shared with the tests in eal/")]
#[path = "../eal/process.rs"]
mod process;
mod refusal;
mod services;
mod setup;
mod sweep;
mod wire;
