// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The kernel's TCP talks to the example in C over a tap interface, in a network namespace of its own.
#![allow(clippy::unwrap_used, clippy::print_stdout)]
#![forbid(unsafe_code)]

mod compiler;
#[path = "../../tests/tap/mod.rs"]
mod tap;

use compiler::compile;

#[test]
fn linux_hosts_are_served() {
    if tap::is_inside("linux_hosts_are_served") {
        tap::echo(tap::TAP, &compile("cc", "examples/echo.c", "libdpdk_sockets_c.so", &[]));
    }
}
