// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How an lcore sleeps while no frames arrive.

use crate::{error::warn, queue_pair::QueuePair};
use dpdk_rs::{PortError, RxQueue};
use std::time::Duration;

/// Intervals without a frame before the interrupts are enabled. The queues are polled for one more interval, since frames
/// that arrived earlier raise no interrupt.
const QUIET_INTERVALS: u32 = 10;
/// The longest sleep. It delays the reaction to the stop flag, the statistics and the link check.
const SLEEP: Duration = Duration::from_millis(10);

/// How long an lcore's queue pairs have been idle.
#[derive(Debug)]
pub(crate) struct Idle {
    lcore: u32,
    /// Set by `--idle-sleep`, cleared when a device call fails.
    sleeps: bool,
    /// The interrupts are enabled.
    armed: bool,
    quiet: u32,
    received: u64,
}

impl Idle {
    /// Checks the result of a device call: after a failure the lcore no longer sleeps. Returns whether the call succeeded.
    fn settle(&mut self, result: Result<(), PortError>) -> bool {
        if let Err(error) = &result {
            self.sleeps = false;
            warn(format_args!("{error}: lcore {} does not sleep", self.lcore));
        }
        result.is_ok()
    }

    fn enable_interrupts(&mut self, pairs: &mut [QueuePair<'_>], on: bool) -> bool {
        let mut queues = pairs.iter_mut().map(|pair| &mut pair.rx);
        self.settle(queues.try_for_each(|rx| if on { rx.enable_interrupt() } else { rx.disable_interrupt() }))
    }

    /// Sleeps until frames come to one of the queues.
    fn wait_for_frames(&mut self, pairs: &mut [QueuePair<'_>], timeout: Duration) -> bool {
        self.settle(RxQueue::wait_any(pairs.iter_mut().map(|pair| &mut pair.rx), timeout).map(drop))
    }

    /// Registers for the interrupts of the RX queues, and warns if a device has none.
    pub(crate) fn begin(lcore: u32, idle_sleep: bool, pairs: &mut [QueuePair<'_>]) -> Self {
        let sleeps = idle_sleep && !pairs.is_empty();
        let mut idle = Self { lcore, sleeps, armed: false, quiet: 0, received: 0 };
        if idle.sleeps {
            idle.wait_for_frames(pairs, Duration::ZERO);
        }
        idle
    }

    /// Call after each interval. Sleeps if no frames have arrived for a while, and returns whether it slept.
    pub(crate) fn sleep_if_idle(&mut self, pairs: &mut [QueuePair<'_>]) -> bool {
        if !self.sleeps {
            return false;
        }
        let received = pairs.iter().map(|pair| pair.counts.rx_packets).sum();
        if received != self.received {
            self.received = received;
            self.quiet = 0;
            if self.armed {
                self.armed = false;
                self.enable_interrupts(pairs, false);
            }
            return false;
        }
        if self.armed {
            return self.wait_for_frames(pairs, SLEEP);
        }
        self.quiet += 1;
        if self.quiet == QUIET_INTERVALS {
            self.armed = self.enable_interrupts(pairs, true);
        }
        false
    }
}
