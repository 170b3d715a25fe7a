// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A meter is for one thread at a time.

use dpdk_rs::{
    Tsc,
    meter::{Color, SrTcm},
};

fn meter_shared(meter: &SrTcm, now: Tsc) -> Color {
    meter.color(now, 64, Color::Green)
}

fn main() {}
