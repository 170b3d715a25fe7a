// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The adder on the kernel's sockets or on dpdk-sockets: see `--help`.
#![forbid(unsafe_code)]

use services::{adder::Adder, http::Http, program};
use std::process::ExitCode;

fn main() -> ExitCode {
    program::serve::<Http<Adder>>("adder")
}
