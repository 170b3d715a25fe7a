// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Sleep of an lcore that no frames come to.

use crate::{error::warn, forward::QueuePair};
use dpdk_rs::{PortError, RxQueue};
use std::time::Duration;

/// Intervals without a frame before the devices are asked to tell of frames. In one more they are polled, since of what came
/// before they do not tell.
const QUIET_INTERVALS: u32 = 10;
/// The longest sleep: the stop flag, statistics and links are seen to between two.
const SLEEP: Duration = Duration::from_millis(10);

/// What an lcore remembers of its queue pairs' rest.
#[derive(Debug)]
pub(crate) struct Idle {
    lcore: u32,
    /// Not without the option, and not once a device has refused.
    sleeps: bool,
    /// The devices tell of frames.
    armed: bool,
    quiet: u32,
    received: u64,
}

impl Idle {
    pub(crate) const fn new(lcore: u32, sleeps: bool) -> Self {
        Self { lcore, sleeps, armed: false, quiet: 0, received: 0 }
    }

    /// Finds out whether the devices can tell of frames, and says so if not.
    pub(crate) fn check(&mut self, pairs: &mut [QueuePair<'_>]) {
        if self.sleeps {
            self.sleeps = !pairs.is_empty();
            self.settle(wait(pairs, Duration::ZERO));
        }
    }

    /// To be called after each interval. Sleeps if no frames have come for long, and returns whether it has.
    pub(crate) fn see_to(&mut self, pairs: &mut [QueuePair<'_>]) -> bool {
        if !self.sleeps {
            return false;
        }
        let received = pairs.iter().map(QueuePair::received).sum();
        if received != self.received {
            self.received = received;
            self.quiet = 0;
            if self.armed {
                self.armed = false;
                self.settle(pairs.iter_mut().try_for_each(|pair| pair.rx_queue().disable_interrupt()));
            }
            return false;
        }
        if self.armed {
            return self.settle(wait(pairs, SLEEP));
        }
        self.quiet += 1;
        if self.quiet == QUIET_INTERVALS {
            let enabled = pairs.iter_mut().try_for_each(|pair| pair.rx_queue().enable_interrupt());
            self.armed = self.settle(enabled);
        }
        false
    }

    /// Where a device refuses, the lcore polls from then on. Returns whether it did not.
    fn settle(&mut self, result: Result<(), PortError>) -> bool {
        if let Err(error) = &result {
            self.sleeps = false;
            warn(format_args!("{error}: lcore {} polls without sleep", self.lcore));
        }
        result.is_ok()
    }
}

fn wait(pairs: &mut [QueuePair<'_>], timeout: Duration) -> Result<(), PortError> {
    RxQueue::wait_any(pairs.iter_mut().map(QueuePair::rx_queue), timeout).map(drop)
}
