// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The proxy with tokio: see `--help`.
#![forbid(unsafe_code)]

use services_libraries::{program, proxy::tokio};
use std::process::ExitCode;

fn main() -> ExitCode {
    program::run("proxy", program::Form::Proxy, tokio::serve)
}
