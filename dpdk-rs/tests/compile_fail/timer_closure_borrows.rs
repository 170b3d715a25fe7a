// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A timer's closure is called at any time: it owns what it uses.

use dpdk_rs::timer::{Timer, Timers};

fn timer_closure_borrows(timers: &Timers) -> Timer {
    let mut count = 0;
    timers.timer(|| count += 1)
}

fn main() {}
