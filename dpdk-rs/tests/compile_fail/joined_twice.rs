// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The value of a closure is taken once.

use dpdk_rs::lcore::JoinHandle;

fn joined_twice(handle: JoinHandle<'_, String>) -> [String; 2] {
    [handle.join().unwrap(), handle.join().unwrap()]
}

fn main() {}
