// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A burst is not copied by copying its pointers.

use dpdk_rs::Burst;

fn burst_cloned(burst: Burst) -> [Burst; 2] {
    [burst.clone(), burst]
}

fn main() {}
