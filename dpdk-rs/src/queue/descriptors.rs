// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How full a queue is.

use crate::{PortError, PrivateData, RxQueue, TxQueue};
use dpdk_sys as sys;

/// The state of a descriptor of an RX queue.
#[doc(alias = "RTE_ETH_RX_DESC_AVAIL")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RxDescriptor {
    /// The device may write a frame to it.
    Available,
    /// It holds a frame that the program has not received yet.
    Done,
    /// The driver or the device uses it.
    Unavailable,
}

/// The state of a descriptor of a TX queue.
#[doc(alias = "RTE_ETH_TX_DESC_FULL")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TxDescriptor {
    /// It holds a frame that the device has not sent yet.
    Full,
    /// Its frame was sent, or it never had a frame.
    Done,
    /// The driver or the device uses it.
    Unavailable,
}

/// What most virtual devices do not support, and what to do instead.
const COUNT: (&str, &str) = ("count of its used descriptors", "receive, and see how many frames come");
const STATUS: (&str, &str) = ("status of single descriptors", "count what is received and sent");
const CLEANUP: (&str, &str) = (
    "way to free sent frames at once",
    "have mbufs for all of its descriptors; the driver frees them as more are sent",
);

impl<P: PrivateData> RxQueue<P> {
    /// The number of descriptors that hold frames which the program has not received yet. Some drivers count in steps
    /// (`net_e1000_em` in steps of 4), and for all of them the call takes longer the more frames wait, so call it
    /// rarely.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the driver does not count; DPDK 25.11 then returns 0 without an error. `net_vhost`
    /// counts, but may read memory that it has just freed because its peer has gone. So the result for it is this error
    /// too.
    #[doc(alias = "rte_eth_rx_queue_count")]
    pub fn used_descriptors(&mut self) -> Result<u32, PortError> {
        let device = self.device();
        let result = if self.quirks().loses_peers {
            -sys::ENOTSUP.cast_signed()
        } else {
            // SAFETY: the port is started, since its queue is there, which is borrowed exclusively: nobody receives meanwhile.
            unsafe { sys::rte_eth_rx_queue_count(self.port().get(), self.id()) }
        };
        let action = || format!("count the used descriptors of RX queue {}", self.id());
        if result < 0 {
            device.check_offered("rte_eth_rx_queue_count", result, action(), COUNT)?;
        }
        Ok(result.unsigned_abs())
    }

    /// The state of the descriptor that is `offset` descriptors after the next one to be received from. Checking one
    /// descriptor costs less than [`Self::used_descriptors`]: if it is done, more than `offset` frames wait.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the driver does not report it, [`PortError::Refused`] with `EINVAL` if the queue has
    /// fewer descriptors.
    #[doc(alias = "rte_eth_rx_descriptor_status")]
    pub fn descriptor(&mut self, offset: u16) -> Result<RxDescriptor, PortError> {
        // SAFETY: the port is started, since its queue is there, which is borrowed exclusively: nobody receives meanwhile.
        let result = unsafe { sys::rte_eth_rx_descriptor_status(self.port().get(), self.id(), offset) };
        match u32::try_from(result) {
            Ok(sys::RTE_ETH_RX_DESC_AVAIL) => Ok(RxDescriptor::Available),
            Ok(sys::RTE_ETH_RX_DESC_DONE) => Ok(RxDescriptor::Done),
            Ok(_) => Ok(RxDescriptor::Unavailable),
            Err(_) => {
                let action = format!("see descriptor {offset} of RX queue {}", self.id());
                self.device().check_offered("rte_eth_rx_descriptor_status", result, action, STATUS)?;
                Ok(RxDescriptor::Unavailable)
            }
        }
    }
}

impl TxQueue {
    /// The state of the descriptor that is `offset` descriptors after the next one to be filled. If it is full, the
    /// device sends more slowly than the program; with the largest offset, the whole queue is full.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the driver does not report it, [`PortError::Refused`] with `EINVAL` if the queue has
    /// fewer descriptors.
    #[doc(alias = "rte_eth_tx_descriptor_status")]
    pub fn descriptor(&mut self, offset: u16) -> Result<TxDescriptor, PortError> {
        // SAFETY: the port is started, since its queue is there, which is borrowed exclusively: nobody sends meanwhile.
        let result = unsafe { sys::rte_eth_tx_descriptor_status(self.port().get(), self.id(), offset) };
        match u32::try_from(result) {
            Ok(sys::RTE_ETH_TX_DESC_FULL) => Ok(TxDescriptor::Full),
            Ok(sys::RTE_ETH_TX_DESC_DONE) => Ok(TxDescriptor::Done),
            Ok(_) => Ok(TxDescriptor::Unavailable),
            Err(_) => {
                let action = format!("see descriptor {offset} of TX queue {}", self.id());
                self.device().check_offered("rte_eth_tx_descriptor_status", result, action, STATUS)?;
                Ok(TxDescriptor::Unavailable)
            }
        }
    }

    /// Frees the mbufs of sent frames, which the driver otherwise keeps until it needs their descriptors: those of
    /// `most` frames, or of all if `most` is 0. Useful when a pool is exhausted, or to regain data that is shared with
    /// other packets.
    ///
    /// Returns how many frames were freed.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the driver does not support it, [`PortError::Refused`] if the driver rejects it.
    #[doc(alias = "rte_eth_tx_done_cleanup")]
    pub fn free_sent(&mut self, most: u32) -> Result<u32, PortError> {
        const CALL: &str = "rte_eth_tx_done_cleanup";
        let device = self.device();
        if device.is_foreign() {
            return Err(device.lacks("way to free sent frames for another process than its own"));
        }
        // SAFETY: the port is started, since its queue is there, which is borrowed exclusively: nobody sends meanwhile.
        let result = unsafe { sys::rte_eth_tx_done_cleanup(self.port().get(), self.id(), most) };
        device.check_offered(CALL, result, format!("free what TX queue {} has sent", self.id()), CLEANUP)?;
        Ok(result.unsigned_abs())
    }
}
