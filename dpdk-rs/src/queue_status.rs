// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How full a queue is.

use crate::{PortError, PrivateData, RxQueue, TxQueue};
use dpdk_sys as sys;

/// What a descriptor of an RX queue is used for.
#[doc(alias = "RTE_ETH_RX_DESC_AVAIL")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RxDescriptor {
    /// The device may write a frame to it.
    Available,
    /// It holds a frame that has not been received from the queue yet.
    Done,
    /// The driver or the device keeps it.
    Unavailable,
}

/// What a descriptor of a TX queue is used for.
#[doc(alias = "RTE_ETH_TX_DESC_FULL")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TxDescriptor {
    /// It holds a frame that the device has still to send.
    Full,
    /// Its frame was sent, or it never had one.
    Done,
    /// The driver or the device keeps it.
    Unavailable,
}

/// What the queues of most virtual devices lack.
const COUNT: (&str, &str) = ("count of its used descriptors", "receive, and see how many frames come");
const STATUS: (&str, &str) = ("status of single descriptors", "count what is received and sent");
const CLEANUP: (&str, &str) = (
    "way to free sent frames at once",
    "have mbufs for all of its descriptors; the driver frees them as more are sent",
);

impl<P: PrivateData> RxQueue<P> {
    /// How many descriptors hold frames that nobody has received yet: how far behind the program is. Some drivers count in steps
    /// (`net_e1000_em` of 4), and all take longer the more there are; call it now and then.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the driver does not count; DPDK 25.11 does not say so, and gives 0. `net_vhost` counts, but might look
    /// at memory that it has just freed since its peer has gone: it is one that does not.
    #[doc(alias = "rte_eth_rx_queue_count")]
    pub fn used_descriptors(&mut self) -> Result<u32, PortError> {
        let device = self.device();
        let result = if device.counts_blindly() {
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

    /// What the descriptor is used for that comes `offset` behind the next one to be received from. Asked of one place, it costs
    /// less than [`Self::used_descriptors`]: if that one is done, so many frames wait.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the driver does not say, [`PortError::Refused`] if the queue has not so many descriptors (`EINVAL`).
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
    /// What the descriptor is used for that comes `offset` behind the next one to be filled. One that is full says that the device
    /// sends slower than the program: with the largest offset, that the whole queue is.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the driver does not say, [`PortError::Refused`] if the queue has not so many descriptors (`EINVAL`).
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

    /// Has the driver free the mbufs of frames that were sent, which it otherwise keeps until it needs their descriptors: of `most`
    /// frames, or with 0 of all. For a pool that is exhausted, or for data that is shared with other packets and wanted back.
    ///
    /// Returns how many frames were freed.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the driver has no way to do it, [`PortError::Refused`] if it refuses.
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
