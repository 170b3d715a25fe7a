// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Starting and stopping queues one by one.

use super::{Device, Direction, PortError};
use dpdk_sys as sys;

type Call = unsafe extern "C" fn(u16, u16) -> i32;

/// The feature that some devices lack.
pub(super) const LACKING: &str = "start and stop of single queues";

impl Device {
    /// Starts or stops one queue of the configured device. DPDK reports success if the queue is already in that state.
    pub(crate) fn switch_queue(&self, direction: Direction, queue: u16, on: bool) -> Result<(), PortError> {
        let _control = self.control()?;
        if self.is_foreign() {
            return Err(self.lacks("start and stop of single queues for another process than its own"));
        }
        self.switch_locked(direction, queue, on)
    }

    /// Like [`Self::switch_queue`], for callers that have locked the control plane.
    pub(super) fn switch_locked(&self, direction: Direction, queue: u16, on: bool) -> Result<(), PortError> {
        let (name, call): (&'static str, Call) = match (direction, on) {
            (Direction::Rx, true) => ("rte_eth_dev_rx_queue_start", sys::rte_eth_dev_rx_queue_start),
            (Direction::Rx, false) => ("rte_eth_dev_rx_queue_stop", sys::rte_eth_dev_rx_queue_stop),
            (Direction::Tx, true) => ("rte_eth_dev_tx_queue_start", sys::rte_eth_dev_tx_queue_start),
            (Direction::Tx, false) => ("rte_eth_dev_tx_queue_stop", sys::rte_eth_dev_tx_queue_stop),
        };
        // SAFETY: all four calls take a port and a queue. The port exists until the drop of this `Device` closes it,
        // and the callers have locked its control plane. Nobody polls the queue in that time: the callers own its only
        // handle, or none exists.
        let result = unsafe { call(self.id().get(), queue) };
        if result == -sys::ENOTSUP.cast_signed() {
            return Err(self.lacks(LACKING));
        }
        self.check(name, result, format!("{} {direction} queue {queue}", if on { "start" } else { "stop" }))
    }

    /// Starts or stops all queues of the device, for callers that have locked the control plane.
    pub(super) fn switch_all(&self, (rx, tx): (u16, u16), on: bool) -> Result<(), PortError> {
        (0..rx).try_for_each(|queue| self.switch_locked(Direction::Rx, queue, on))?;
        (0..tx).try_for_each(|queue| self.switch_locked(Direction::Tx, queue, on))
    }
}
