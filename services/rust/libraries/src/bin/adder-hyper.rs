// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The adder with hyper on tokio: see `--help`.
#![forbid(unsafe_code)]

use services_libraries::{adder, program};
use std::process::ExitCode;

fn main() -> ExitCode {
    program::run("adder", program::Form::Service, adder::serve)
}
