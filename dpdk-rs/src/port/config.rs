// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How a port is to be set up.

use super::{DescriptorLimits, PortError, device::Device};

/// How to set a port up. The default: one queue each way, 1,024 descriptors a queue, everything else as the device
/// has it.
#[doc(alias = "rte_eth_conf")]
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct PortConfig {
    pub(super) rx_queues: u16,
    pub(super) tx_queues: u16,
    pub(super) rx_descriptors: u16,
    pub(super) tx_descriptors: u16,
    pub(super) mtu: Option<u16>,
    pub(super) scatter: bool,
}

impl Default for PortConfig {
    fn default() -> Self {
        Self { rx_queues: 1, tx_queues: 1, rx_descriptors: 1024, tx_descriptors: 1024, mtu: None, scatter: false }
    }
}

impl PortConfig {
    /// How many RX queues; with more than one, frames are spread by a hash of their addresses and ports (RSS), as far
    /// as the device can.
    pub const fn rx_queues(mut self, queues: u16) -> Self {
        self.rx_queues = queues;
        self
    }

    /// How many TX queues.
    pub const fn tx_queues(mut self, queues: u16) -> Self {
        self.tx_queues = queues;
        self
    }

    /// Descriptors in each RX queue.
    pub const fn rx_descriptors(mut self, descriptors: u16) -> Self {
        self.rx_descriptors = descriptors;
        self
    }

    /// Descriptors in each TX queue.
    pub const fn tx_descriptors(mut self, descriptors: u16) -> Self {
        self.tx_descriptors = descriptors;
        self
    }

    /// The longest payload of a frame in bytes, without the Ethernet header and the FCS.
    pub const fn mtu(mut self, mtu: u16) -> Self {
        self.mtu = Some(mtu);
        self
    }

    /// Receive and send frames that lie in several segments, where the device offers it: needed for frames longer than
    /// the data room of the pool's mbufs.
    #[doc(alias = "RTE_ETH_RX_OFFLOAD_SCATTER")]
    #[doc(alias = "RTE_ETH_TX_OFFLOAD_MULTI_SEGS")]
    pub const fn scatter(mut self, on: bool) -> Self {
        self.scatter = on;
        self
    }

    /// Compares every number with what the device supports.
    pub(super) fn check(&self, device: &Device) -> Result<(), PortError> {
        let info = device.info()?;
        let unsupported = |what, asked: u16, limits| PortError::Unsupported {
            port: device.id(),
            name: device.name().to_owned(),
            what,
            asked: u32::from(asked),
            limits,
        };
        let queues = |what, asked, most| {
            if asked <= most { Ok(()) } else { Err(unsupported(what, asked, format!("at most {most}"))) }
        };
        let descriptors = |what, asked, limits: DescriptorLimits| {
            if limits.allows(asked) { Ok(()) } else { Err(unsupported(what, asked, limits.to_string())) }
        };
        queues("RX queues", self.rx_queues, info.max_rx_queues)?;
        queues("TX queues", self.tx_queues, info.max_tx_queues)?;
        descriptors("RX descriptors", self.rx_descriptors, info.rx_descriptors)?;
        descriptors("TX descriptors", self.tx_descriptors, info.tx_descriptors)?;
        match self.mtu {
            Some(mtu) if !(info.min_mtu..=info.max_mtu).contains(&mtu) => {
                Err(unsupported("bytes of MTU", mtu, format!("{} to {}", info.min_mtu, info.max_mtu)))
            }
            _ => Ok(()),
        }
    }
}
