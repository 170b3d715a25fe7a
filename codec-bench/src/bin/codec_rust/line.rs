// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The output: one JSON object per line.

/// Prints one line of JSON. A reader that has gone away is no reason to go on.
#[allow(clippy::print_stdout)]
pub(crate) fn print_line(line: &serde_json::Value) {
    println!("{line}");
}
