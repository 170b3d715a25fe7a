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
    ///
    /// # Safety
    /// Nobody polls the queue meanwhile.
    pub(crate) unsafe fn switch_queue(&self, direction: Direction, queue: u16, on: bool) -> Result<(), PortError> {
        let _control = self.control()?;
        if self.is_foreign() {
            return Err(self.lacks("start and stop of single queues for another process than its own"));
        }
        // SAFETY: the control plane is locked, and the caller promises that nobody polls the queue.
        unsafe { self.switch_locked(direction, queue, on) }
    }

    /// Like [`Self::switch_queue`], with the control plane locked.
    ///
    /// # Safety
    /// The control plane is locked, and nobody polls the queue meanwhile.
    unsafe fn switch_locked(&self, direction: Direction, queue: u16, on: bool) -> Result<(), PortError> {
        let (name, call): (&'static str, Call) = match (direction, on) {
            (Direction::Rx, true) => ("rte_eth_dev_rx_queue_start", sys::rte_eth_dev_rx_queue_start),
            (Direction::Rx, false) => ("rte_eth_dev_rx_queue_stop", sys::rte_eth_dev_rx_queue_stop),
            (Direction::Tx, true) => ("rte_eth_dev_tx_queue_start", sys::rte_eth_dev_tx_queue_start),
            (Direction::Tx, false) => ("rte_eth_dev_tx_queue_stop", sys::rte_eth_dev_tx_queue_stop),
        };
        // SAFETY: all four calls take a port and a queue. The port exists until the drop of this `Device` closes it. The
        // caller promises that its control plane is locked, and that nobody polls the queue.
        let result = unsafe { call(self.id().get(), queue) };
        if result == -sys::ENOTSUP.cast_signed() {
            return Err(self.lacks(LACKING));
        }
        self.check(name, result, format!("{} {direction} queue {queue}", if on { "start" } else { "stop" }))
    }

    /// Starts or stops all queues of the device.
    ///
    /// # Safety
    /// The control plane is locked, and nobody polls the queues meanwhile.
    pub(super) unsafe fn switch_all(&self, (rx, tx): (u16, u16), on: bool) -> Result<(), PortError> {
        let rx = (0..rx).map(|queue| (Direction::Rx, queue));
        rx.chain((0..tx).map(|queue| (Direction::Tx, queue))).try_for_each(|(direction, queue)| {
            // SAFETY: the caller promises the lock, and that nobody polls the queue.
            unsafe { self.switch_locked(direction, queue, on) }
        })
    }
}
