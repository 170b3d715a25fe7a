// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The guide in `docs/` is correct: its programs and commands are run as they are printed, and its tables are compared
//! with the code. rustdoc checks the links to items, and compiles the printed code.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stdout)]

#[path = "guide/chapters.rs"]
mod chapters;
#[path = "guide/commands.rs"]
mod commands;
#[path = "guide/contracts.rs"]
mod contracts;
#[path = "guide/features.rs"]
mod features;
#[path = "guide/snippets.rs"]
mod snippets;
#[path = "guide/tables.rs"]
mod tables;

mod compilation;

#[allow(dead_code, reason = "shared with the tests in eal/")]
#[path = "eal/capture.rs"]
mod capture;
#[allow(dead_code, reason = "shared with the tests in eal/")]
#[path = "eal/process.rs"]
mod process;
