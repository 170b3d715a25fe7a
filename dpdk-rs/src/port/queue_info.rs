// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How a queue was set up, and which of its functions the driver uses to receive and send: the first thing to check
//! when a queue is slow.

use super::{Device, Direction, Port, PortError, Started, adapter::text_of, info::offload_names};
use crate::{PacketType, PrivateData};
use core::ptr;
use dpdk_sys as sys;

/// How an RX queue was set up; from [`Port::rx_queue_info`].
#[doc(alias = "rte_eth_rxq_info")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RxQueueInfo {
    /// The number of descriptors.
    pub descriptors: u16,
    /// How many bytes of an mbuf the device writes to; 0 if the driver does not report it.
    pub buffer_len: u16,
    /// Whether a frame may arrive in several segments.
    pub scattered: bool,
    /// How many descriptors the driver collects before it returns them to the device.
    pub free_threshold: u16,
    /// Whether the device drops frames, rather than hold them back, while the queue has no free descriptor.
    pub drops: bool,
    /// The enabled offloads, by DPDK's names, such as `SCATTER`.
    pub offloads: Vec<String>,
}

/// How a TX queue was set up; from [`Port::tx_queue_info`].
#[doc(alias = "rte_eth_txq_info")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TxQueueInfo {
    /// The number of descriptors.
    pub descriptors: u16,
    /// The driver frees sent frames once fewer descriptors than this are free.
    pub free_threshold: u16,
    /// The number of descriptors after which the device reports that they were sent (RS).
    pub report_threshold: u16,
    /// The enabled offloads, by DPDK's names, such as `MULTI_SEGS`.
    pub offloads: Vec<String>,
}

/// What a driver lacks that does not describe its queues, and what to do instead.
const SETUP: (&str, &str) = ("description of its queues", "they have what the port was configured with");

/// What a driver lacks that has only one function, or does not report which one it uses.
const MODE: (&str, &str) =
    ("burst modes to report", "raise the driver's log level, by --log-level=pmd.net.*:debug, which often names them");

impl<P: PrivateData> Port<Started<P>> {
    /// The set-up of an RX queue, as its driver reports it.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the driver does not report it, [`PortError::Unsupported`] if there is no such queue.
    #[doc(alias = "rte_eth_rx_queue_info_get")]
    pub fn rx_queue_info(&self, queue: u16) -> Result<RxQueueInfo, PortError> {
        self.device.rx_queue_info(queue)
    }

    /// The set-up of a TX queue, as its driver reports it.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the driver does not report it, [`PortError::Unsupported`] if there is no such queue.
    #[doc(alias = "rte_eth_tx_queue_info_get")]
    pub fn tx_queue_info(&self, queue: u16) -> Result<TxQueueInfo, PortError> {
        self.device.tx_queue_info(queue)
    }

    /// The function that the driver uses to receive on a queue, such as `Vector AVX2` or `Scalar Scattered`. The
    /// driver's choice depends on the processor, on the offloads and on the number of descriptors.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the driver does not report it, as is the case for virtual devices,
    /// [`PortError::Unsupported`] if there is no such queue.
    #[doc(alias = "rte_eth_rx_burst_mode_get")]
    pub fn rx_burst_mode(&self, queue: u16) -> Result<String, PortError> {
        self.device.burst_mode(Direction::Rx, queue)
    }

    /// The function that the driver uses to send on a queue; see [`Self::rx_burst_mode`].
    ///
    /// # Errors
    /// The errors of [`Self::rx_burst_mode`].
    #[doc(alias = "rte_eth_tx_burst_mode_get")]
    pub fn tx_burst_mode(&self, queue: u16) -> Result<String, PortError> {
        self.device.burst_mode(Direction::Tx, queue)
    }

    /// The frame types that the device distinguishes ([`Packet::packet_type`](crate::Packet::packet_type)), without
    /// tunnels; empty if it does not classify frames.
    ///
    /// # Errors
    /// [`PortError::Refused`] if the device does not report them.
    #[doc(alias = "rte_eth_dev_get_supported_ptypes")]
    pub fn packet_types(&self) -> Result<Vec<PacketType>, PortError> {
        self.device.packet_types()
    }
}

impl Device {
    fn rx_queue_info(&self, queue: u16) -> Result<RxQueueInfo, PortError> {
        self.check_queue(Direction::Rx, queue)?;
        let mut info = sys::rte_eth_rxq_info::default();
        let control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, has this queue, and the control plane is locked; the
        // call fills a struct of ours.
        let result = unsafe { sys::rte_eth_rx_queue_info_get(self.id().get(), queue, &raw mut info) };
        drop(control);
        self.check_offered("rte_eth_rx_queue_info_get", result, format!("read how RX queue {queue} is set up"), SETUP)?;
        Ok(RxQueueInfo {
            descriptors: info.nb_desc,
            buffer_len: info.rx_buf_size,
            scattered: info.scattered_rx != 0,
            free_threshold: info.conf.rx_free_thresh,
            drops: info.conf.rx_drop_en != 0,
            // SAFETY: DPDK returns the name of any number, and `Unknown` where it has none.
            offloads: unsafe { offload_names(info.conf.offloads, sys::rte_eth_dev_rx_offload_name) },
        })
    }

    fn tx_queue_info(&self, queue: u16) -> Result<TxQueueInfo, PortError> {
        self.check_queue(Direction::Tx, queue)?;
        let mut info = sys::rte_eth_txq_info::default();
        let control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, has this queue, and the control plane is locked; the
        // call fills a struct of ours.
        let result = unsafe { sys::rte_eth_tx_queue_info_get(self.id().get(), queue, &raw mut info) };
        drop(control);
        self.check_offered("rte_eth_tx_queue_info_get", result, format!("read how TX queue {queue} is set up"), SETUP)?;
        Ok(TxQueueInfo {
            descriptors: info.nb_desc,
            free_threshold: info.conf.tx_free_thresh,
            report_threshold: info.conf.tx_rs_thresh,
            // SAFETY: DPDK returns the name of any number, and `Unknown` where it has none.
            offloads: unsafe { offload_names(info.conf.offloads, sys::rte_eth_dev_tx_offload_name) },
        })
    }

    fn burst_mode(&self, direction: Direction, queue: u16) -> Result<String, PortError> {
        self.check_queue(direction, queue)?;
        let mut mode = sys::rte_eth_burst_mode::default();
        let port = self.id().get();
        let control = self.control()?;
        let (call, result) = match direction {
            Direction::Rx => {
                // SAFETY: the port exists until the drop of this `Device` closes it, has this queue, and the control plane is
                // locked; the call fills a struct of ours.
                let result = unsafe { sys::rte_eth_rx_burst_mode_get(port, queue, &raw mut mode) };
                ("rte_eth_rx_burst_mode_get", result)
            }
            Direction::Tx => {
                // SAFETY: the port exists until the drop of this `Device` closes it, has this queue, and the control plane is
                // locked; the call fills a struct of ours.
                let result = unsafe { sys::rte_eth_tx_burst_mode_get(port, queue, &raw mut mode) };
                ("rte_eth_tx_burst_mode_get", result)
            }
        };
        drop(control);
        // Drivers that do not know the function that they use return this.
        let unknown = -sys::EINVAL.cast_signed();
        let result = if result == unknown { -sys::ENOTSUP.cast_signed() } else { result };
        self.check_offered(call, result, format!("read the burst mode of {direction} queue {queue}"), MODE)?;
        Ok(text_of(&mode.info))
    }

    fn packet_types(&self) -> Result<Vec<PacketType>, PortError> {
        const CALL: &str = "rte_eth_dev_get_supported_ptypes";
        const ACTION: &str = "read which types of frames it distinguishes";
        let layers = sys::DPDK_SYS_PTYPE_L2_MASK | sys::DPDK_SYS_PTYPE_L3_MASK | sys::DPDK_SYS_PTYPE_L4_MASK;
        let port = self.id().get();
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked; without an array the
        // call counts.
        let count = unsafe { sys::rte_eth_dev_get_supported_ptypes(port, layers, ptr::null_mut(), 0) };
        self.check(CALL, count, ACTION)?;
        let mut types = vec![0; count.unsigned_abs() as usize];
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked; the array has `count`
        // entries.
        let named = unsafe { sys::rte_eth_dev_get_supported_ptypes(port, layers, types.as_mut_ptr(), count) };
        self.check(CALL, named, ACTION)?;
        types.truncate(named.unsigned_abs() as usize);
        Ok(types.into_iter().map(PacketType::new).collect())
    }
}
