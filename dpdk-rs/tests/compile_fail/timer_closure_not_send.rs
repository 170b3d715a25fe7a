// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A timer's closure is called on any lcore.

use dpdk_rs::timer::{Timer, Timers};
use std::rc::Rc;

fn timer_closure_not_send(timers: &Timers, text: Rc<str>) -> Timer {
    timers.timer(move || drop(text.len()))
}

fn main() {}
