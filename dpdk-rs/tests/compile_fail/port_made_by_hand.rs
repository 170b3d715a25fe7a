// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Ports come from the EAL.

use dpdk_rs::{Port, port::Unconfigured};

fn port_made_by_hand() -> Port<Unconfigured> {
    Port::new(0)
}

fn main() {}
