// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The loop.

use crate::{report, way::Way};
use core::time::Duration;
use dpdk_rs::Clock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Forwards until the stop flag is set, and then sends the frames that still wait. Returns how long it forwarded.
pub(crate) fn forward_loop(ways: &mut [Way; 2], clock: Clock, stop: &AtomicBool) -> Duration {
    let start = clock.now();
    let elapsed = || clock.duration(clock.now().since(start));
    let mut line = Duration::from_secs(1);
    while !stop.load(Relaxed) {
        for way in &mut *ways {
            way.poll(elapsed);
        }
        let now = elapsed();
        if now >= line {
            report::print_line(now, ways);
            line = Duration::from_secs(now.as_secs() + 1);
        }
    }
    ways.iter_mut().for_each(Way::send_left);
    elapsed()
}
