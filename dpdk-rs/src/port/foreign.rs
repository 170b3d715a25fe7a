// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Ports of the primary process in a secondary process.

use super::{Device, Direction, Link, Port, PortError, PortStats, Xstat, device};
use crate::{Mempool, PrivateData, RxQueue, TxQueue, environment::Environment};
use std::sync::Arc;

/// A port that the primary process has configured; see [`Secondary::ports`](crate::secondary::Secondary::ports).
/// Dropping it does not affect the device.
#[derive(Debug)]
pub struct Foreign(());

/// Takes every free port, for a secondary process.
///
/// # Safety
/// This is a secondary process, and the primary one closes none of the ports as long as one of the results lives.
pub(crate) unsafe fn take_foreign(environment: &Arc<Environment>) -> Result<Vec<Port<Foreign>>, PortError> {
    let devices = device::take_all(environment).into_iter().map(|device| {
        // SAFETY: the caller promises a secondary process, in which nobody has the device yet.
        unsafe { device.adopt() }?;
        // SAFETY: the device was adopted in the line above.
        Ok(unsafe { Port::of(Arc::new(device)) })
    });
    devices.collect()
}

impl Port<Foreign> {
    /// The device's basic counters.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device has none, or does not report them to a secondary process.
    #[doc(alias = "rte_eth_stats_get")]
    pub fn stats(&self) -> Result<PortStats, PortError> {
        self.device.stats()
    }

    /// The device's extended counters.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not report them; [`PortError::Lacks`] for `net_vhost`.
    #[doc(alias = "rte_eth_xstats_get")]
    pub fn xstats(&self) -> Result<Vec<Xstat>, PortError> {
        self.device.xstats()
    }

    /// The present state of the link.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not report it.
    #[doc(alias = "rte_eth_link_get_nowait")]
    pub fn link(&self) -> Result<Link, PortError> {
        self.device.link(false)
    }

    /// The numbers of RX and TX queues that the primary process has configured.
    #[must_use]
    pub fn queue_counts(&self) -> (u16, u16) {
        self.device.configured_queues()
    }

    /// The RX queue with this number, which the primary process leaves to this process. It can be neither stopped nor
    /// waited for.
    ///
    /// # Errors
    /// [`PortError::Unsupported`] if the port has no such queue, [`PortError::Lacks`] if it was not set up before this
    /// process attached, or if its driver cannot receive in a secondary process.
    ///
    /// # Safety
    /// Nobody else receives from the queue, in any process, as long as the result lives. The port was started before
    /// this process attached, and is neither stopped nor closed in that time. The drivers of the pools that the queue
    /// receives into have the same numbers in this process, and the pools have a private area for a `P`, unless a `P`
    /// has 0 bytes.
    #[doc(alias = "rte_eth_rx_burst")]
    pub unsafe fn rx_queue<P: PrivateData>(&self, queue: u16) -> Result<RxQueue<P>, PortError> {
        const { assert!(Mempool::<P>::PRIVATE_LEN as usize >= size_of::<P>()) };
        // SAFETY: the caller promises that the port is neither stopped nor closed.
        unsafe { self.check_queue(Direction::Rx, queue) }?;
        // SAFETY: the queue is there, and the caller promises that nobody else uses it and that the port stays started.
        Ok(unsafe { RxQueue::new(&self.device, queue) })
    }

    /// The TX queue with this number, which the primary process leaves to this process. It can neither be stopped nor
    /// handle offload requests. It sends frames of several segments only if its driver does so in any configuration. On
    /// a `net_ring`, or a device that combines others, it drops packets of shared data ([`TxQueue::rejected`]).
    ///
    /// # Errors
    /// [`PortError::Unsupported`] if the port has no such queue, [`PortError::Lacks`] if it was not set up before this
    /// process attached, or if its driver cannot send in a secondary process.
    ///
    /// # Safety
    /// Nobody else sends on the queue, in any process, as long as the result lives. The port was started before this
    /// process attached, and is neither stopped nor closed in that time.
    #[doc(alias = "rte_eth_tx_burst")]
    pub unsafe fn tx_queue(&self, queue: u16) -> Result<TxQueue, PortError> {
        // SAFETY: the caller promises that the port is neither stopped nor closed.
        unsafe { self.check_queue(Direction::Tx, queue) }?;
        // SAFETY: the queue is there, and the caller promises that nobody else uses it and that the port stays started.
        Ok(unsafe { TxQueue::new(&self.device, queue) })
    }

    /// # Safety
    /// The port is neither started nor stopped nor closed during the call.
    unsafe fn check_queue(&self, direction: Direction, queue: u16) -> Result<(), PortError> {
        let device: &Device = &self.device;
        device.check_queue(direction, queue)?;
        // SAFETY: the caller promises the port, and it has a queue with this number, as was just checked.
        if unsafe { device::has_queue(device.id(), direction, queue) } {
            Ok(())
        } else {
            Err(device.lacks(format!("{direction} queue {queue} that was set up before this process attached")))
        }
    }
}
