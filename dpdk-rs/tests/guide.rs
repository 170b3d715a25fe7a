// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The guide in `docs/` says what is true: its programs and commands are run as they are printed, and its tables are compared
//! with what they are about. rustdoc checks the links to items, and compiles the code.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[path = "guide/chapters.rs"]
mod chapters;
#[path = "guide/commands.rs"]
mod commands;
#[path = "guide/features.rs"]
mod features;
#[path = "guide/tables.rs"]
mod tables;

#[allow(dead_code, reason = "shared with the tests in eal/")]
#[path = "eal/capture.rs"]
mod capture;
#[allow(dead_code, reason = "shared with the tests in eal/")]
#[path = "eal/process.rs"]
mod process;
