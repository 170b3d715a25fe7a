// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The echo server with the standard library and a pool of threads: see `--help`.
#![forbid(unsafe_code)]

use services_libraries::{echo, program};
use std::process::ExitCode;

fn main() -> ExitCode {
    program::run("echo", program::Form::Pool, echo::serve)
}
