// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A clock is that of an initialised EAL, which has measured its frequency.

use dpdk_rs::Clock;

fn clock_made_by_hand() -> Clock {
    Clock { hz: 1_000_000_000 }
}

fn main() {}
