// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Whoever attaches to another process promises what no type can know.

use dpdk_rs::{EalOptions, secondary::Secondary};

fn attached_without_unsafe() -> Secondary {
    Secondary::attach(EalOptions::new()).unwrap().0
}

fn main() {}
