// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The drain timer of l2fwd: how long frames wait for others to fill a burst.

use crate::{Clock, Tsc};
use core::time::Duration;

/// A periodic timer. It does not notify anybody when its period is over: the program polls it.
pub(super) struct DrainTimer {
    /// The period in cycles.
    time: u64,
    over_at: Tsc,
}

impl DrainTimer {
    pub(super) fn start(time: Duration, clock: Clock) -> Self {
        let time = clock.cycles(time);
        Self { time, over_at: clock.now().after(time) }
    }

    /// Whether the period is over at `now`. If so, a new period starts.
    #[inline(always)]
    pub(super) fn restart_if_over(&mut self, now: Tsc) -> bool {
        let over = now >= self.over_at;
        if over {
            self.over_at = now.after(self.time);
        }
        over
    }
}
