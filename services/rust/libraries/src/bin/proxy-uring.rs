// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The proxy with compio on io_uring: see `--help`.
#![forbid(unsafe_code)]

use services_libraries::{program, proxy::uring};
use std::process::ExitCode;

fn main() -> ExitCode {
    program::run("proxy", program::Form::Proxy, uring::serve)
}
