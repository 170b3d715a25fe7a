// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The echo server on the kernel's sockets or on dpdk-sockets: see `--help`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    services::program::main::<services::echo::Echo>("echo")
}
