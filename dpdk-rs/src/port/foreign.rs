// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Ports of the primary process, as a secondary one sees them.

use super::{Device, Direction, Link, Port, PortError, PortStats, Xstat, device};
use crate::{Mempool, PrivateData, RxQueue, TxQueue, eal::Environment, queue};
use std::sync::Arc;

/// A port that the primary process has configured; see [`Secondary::ports`](crate::secondary::Secondary::ports). Dropping it
/// does nothing to the device.
#[derive(Debug)]
pub struct Foreign(());

/// Takes every free port, for a secondary process.
pub(crate) fn take_foreign(environment: &Arc<Environment>) -> Result<Vec<Port<Foreign>>, PortError> {
    let devices = device::take_all(environment);
    devices.into_iter().map(|device| device.adopt().map(|()| Port::of(Arc::new(device)))).collect()
}

impl Port<Foreign> {
    /// The device's basic counters, as the primary process reads them.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device has none, or does not tell them to a secondary process.
    #[doc(alias = "rte_eth_stats_get")]
    pub fn stats(&self) -> Result<PortStats, PortError> {
        self.device.stats()
    }

    /// The device's extended counters.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not say.
    #[doc(alias = "rte_eth_xstats_get")]
    pub fn xstats(&self) -> Result<Vec<Xstat>, PortError> {
        self.device.xstats()
    }

    /// The state of the link as it is now.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not say.
    #[doc(alias = "rte_eth_link_get_nowait")]
    pub fn link(&self) -> Result<Link, PortError> {
        self.device.link(false)
    }

    /// How many RX and TX queues the primary process has configured.
    #[must_use]
    pub fn queue_counts(&self) -> (u16, u16) {
        self.device.configured_queues()
    }

    /// The RX queue of this number, which the primary process leaves to this one. It can be neither stopped nor waited for.
    ///
    /// # Errors
    /// [`PortError::Unsupported`] if the port has no such queue, [`PortError::Lacks`] if it was not set up before this process
    /// attached, or if its driver does not receive in a secondary process.
    ///
    /// # Safety
    /// Nobody else receives from the queue, in any process, as long as the result lives. The port was started before this
    /// process attached, and is neither stopped nor closed meanwhile. What it receives into are pools of drivers that this
    /// process has under the same number, with a private area for a `P` where that is not 0 bytes long.
    #[doc(alias = "rte_eth_rx_burst")]
    pub unsafe fn rx_queue<P: PrivateData>(&self, queue: u16) -> Result<RxQueue<P>, PortError> {
        const { assert!(Mempool::<P>::PRIVATE_LEN as usize >= size_of::<P>()) };
        self.check_queue(Direction::Rx, queue)?;
        Ok(RxQueue::new(&self.device, queue))
    }

    /// The TX queue of this number, which the primary process leaves to this one. It can be neither stopped nor asked for
    /// offloads, and takes frames of several segments only of drivers that send them however they are configured. On a `net_ring`, or
    /// a device that combines others, it drops packets of shared data ([`TxQueue::rejected`]).
    ///
    /// # Errors
    /// [`PortError::Unsupported`] if the port has no such queue, [`PortError::Lacks`] if it was not set up before this process
    /// attached, or if its driver does not send in a secondary process.
    ///
    /// # Safety
    /// Nobody else sends on the queue, in any process, as long as the result lives. The port was started before this process
    /// attached, and is neither stopped nor closed meanwhile.
    #[doc(alias = "rte_eth_tx_burst")]
    pub unsafe fn tx_queue(&self, queue: u16) -> Result<TxQueue, PortError> {
        self.check_queue(Direction::Tx, queue)?;
        Ok(TxQueue::new(&self.device, queue))
    }

    fn check_queue(&self, direction: Direction, queue: u16) -> Result<(), PortError> {
        let device: &Device = &self.device;
        device.check_queue(direction, queue)?;
        // SAFETY: the port exists, since whoever has asked for it promised that it is not closed, and has so many queues.
        if unsafe { queue::has_queue(device.id(), direction, queue) } {
            Ok(())
        } else {
            Err(device.lacks(format!("{direction} queue {queue} that was set up before this process attached")))
        }
    }
}
