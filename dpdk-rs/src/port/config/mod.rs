// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The configuration of a port.

mod check;

use super::{
    LinkSpeed, LinkSpeeds, RingRegisters, RssFields, RxOffloads, TxOffloads, link_speed::Negotiation, tuning::Tuning,
};

/// The configuration of a port. The default is one RX queue and one TX queue with 1,024 descriptors each, and the
/// device's own default for everything else.
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
    /// `None`: the usual fields, if there are several RX queues.
    pub(super) rss: Option<RssFields>,
    pub(super) rss_key: Option<Vec<u8>>,
    pub(super) deferred_start: bool,
    pub(super) vlan_filter: bool,
    pub(super) vlan_strip: bool,
    pub(super) link_interrupts: bool,
    pub(super) rx_interrupts: bool,
    pub(super) rx_offloads: RxOffloads,
    pub(super) max_lro_len: Option<u32>,
    pub(super) tx_offloads: TxOffloads,
    /// Unset values are the driver's choice.
    pub(super) tuning: Tuning,
    pub(super) negotiation: Negotiation,
}

impl Default for PortConfig {
    fn default() -> Self {
        Self {
            rx_queues: 1,
            tx_queues: 1,
            rx_descriptors: 1024,
            tx_descriptors: 1024,
            mtu: None,
            scatter: false,
            rss: None,
            rss_key: None,
            deferred_start: false,
            vlan_filter: false,
            vlan_strip: false,
            link_interrupts: false,
            rx_interrupts: false,
            rx_offloads: RxOffloads::NONE,
            tx_offloads: TxOffloads::NONE,
            max_lro_len: None,
            tuning: Tuning::default(),
            negotiation: Negotiation::default(),
        }
    }
}

impl PortConfig {
    /// The number of RX queues. Default: 1. With more than one, the device distributes frames by a hash of their
    /// addresses and ports (RSS), as far as it can, unless [`Self::rss`] is set.
    pub const fn rx_queues(mut self, queues: u16) -> Self {
        self.rx_queues = queues;
        self
    }

    /// The number of TX queues. Default: 1.
    pub const fn tx_queues(mut self, queues: u16) -> Self {
        self.tx_queues = queues;
        self
    }

    /// The number of descriptors in each RX queue. Default: 1,024.
    pub const fn rx_descriptors(mut self, descriptors: u16) -> Self {
        self.rx_descriptors = descriptors;
        self
    }

    /// The number of descriptors in each TX queue. Default: 1,024.
    pub const fn tx_descriptors(mut self, descriptors: u16) -> Self {
        self.tx_descriptors = descriptors;
        self
    }

    /// The maximum payload of a frame (MTU) in bytes, without the Ethernet header and the FCS. Default: the device's.
    pub const fn mtu(mut self, mtu: u16) -> Self {
        self.mtu = Some(mtu);
        self
    }

    /// Receives and sends frames in several segments, if the device supports it: needed for frames longer than the data
    /// room of the pool's mbufs.
    #[doc(alias = "RTE_ETH_RX_OFFLOAD_SCATTER")]
    #[doc(alias = "RTE_ETH_TX_OFFLOAD_MULTI_SEGS")]
    pub const fn scatter(mut self, on: bool) -> Self {
        self.scatter = on;
        self
    }

    /// Distributes frames over the RX queues by a hash of these fields. The device must support all of them
    /// ([`PortInfo::rss_fields`](super::PortInfo::rss_fields)).
    #[doc(alias = "RTE_ETH_MQ_RX_RSS")]
    pub const fn rss(mut self, fields: RssFields) -> Self {
        self.rss = Some(fields);
        self
    }

    /// The key of that hash, whose length must be the device's
    /// ([`PortInfo::rss_key_len`](super::PortInfo::rss_key_len)). Default: the device's own key.
    pub fn rss_key(mut self, key: impl Into<Vec<u8>>) -> Self {
        self.rss_key = Some(key.into());
        self
    }

    /// Lets the queues of the started port wait until each is started
    /// ([`Port::start_stopped`](super::Port::start_stopped)), so that none receives frames before. A device that cannot
    /// start and stop single queues rejects the configuration, and is then closed.
    #[doc(alias = "rx_deferred_start")]
    #[doc(alias = "tx_deferred_start")]
    pub const fn deferred_start(mut self, on: bool) -> Self {
        self.deferred_start = on;
        self
    }

    /// Receives only untagged frames, and frames of the VLANs that [`Port::set_vlan`](super::Port::set_vlan) enables.
    #[doc(alias = "RTE_ETH_RX_OFFLOAD_VLAN_FILTER")]
    pub const fn vlan_filter(mut self, on: bool) -> Self {
        self.vlan_filter = on;
        self
    }

    /// Removes the VLAN tag from received frames.
    #[doc(alias = "RTE_ETH_RX_OFFLOAD_VLAN_STRIP")]
    pub const fn vlan_strip(mut self, on: bool) -> Self {
        self.vlan_strip = on;
        self
    }

    /// Makes the device report link changes: needed for [`Port::on_link_change`](super::Port::on_link_change).
    #[doc(alias = "rte_eth_intr_conf")]
    pub const fn link_interrupts(mut self, on: bool) -> Self {
        self.link_interrupts = on;
        self
    }

    /// Makes the device report arriving frames: needed for [`RxQueue::wait`](crate::RxQueue::wait). A device that does
    /// not support it fails either to start or to wait.
    #[doc(alias = "rte_eth_intr_conf")]
    pub const fn rx_interrupts(mut self, on: bool) -> Self {
        self.rx_interrupts = on;
        self
    }

    /// The receive offloads. The device must support all of them ([`PortInfo::offers_rx`](super::PortInfo::offers_rx)).
    #[doc(alias = "RTE_ETH_RX_OFFLOAD_CHECKSUM")]
    pub const fn rx_offloads(mut self, offloads: RxOffloads) -> Self {
        self.rx_offloads = offloads;
        self
    }

    /// The maximum length of a packet from [`RxOffloads::TCP_LRO`], in bytes from the Ethernet header on. Default: the
    /// device's maximum ([`PortInfo::max_lro_len`](super::PortInfo::max_lro_len)).
    #[doc(alias = "max_lro_pkt_size")]
    pub const fn max_lro_len(mut self, bytes: u32) -> Self {
        self.max_lro_len = Some(bytes);
        self
    }

    /// The transmit offloads that can be requested for each frame ([`TxQueue::prepare`](crate::TxQueue::prepare)). The
    /// device must support all of them ([`PortInfo::offers_tx`](super::PortInfo::offers_tx)).
    #[doc(alias = "RTE_ETH_TX_OFFLOAD_TCP_TSO")]
    pub const fn tx_offloads(mut self, offloads: TxOffloads) -> Self {
        self.tx_offloads = offloads;
        self
    }

    /// Makes the two ends of the link agree on one of these speeds, all of which the device must support
    /// ([`PortInfo::speeds`](super::PortInfo::speeds)). Default: any speed. Drivers of virtual devices, and some of
    /// NICs, ignore this setting: [`Port::wait_link`](super::Port::wait_link) reports the result.
    ///
    /// ```
    /// use dpdk_rs::{PortConfig, port::LinkSpeed};
    ///
    /// let config = PortConfig::default().advertised_speeds(LinkSpeed::G1 | LinkSpeed::G10);
    /// ```
    #[doc(alias = "link_speeds")]
    pub fn advertised_speeds(mut self, speeds: impl Into<LinkSpeeds>) -> Self {
        self.negotiation = Negotiation::Of(speeds.into());
        self
    }

    /// Sets the speed of the link without negotiation, to one that the device supports; the other end must be set to
    /// the same. A NIC's data sheet lists the speeds that can be set (1 Gbit/s over copper is always negotiated). The
    /// same drivers ignore this setting as [`Self::advertised_speeds`], which it replaces.
    #[doc(alias = "link_speeds")]
    #[doc(alias = "RTE_ETH_LINK_SPEED_FIXED")]
    pub const fn fixed_speed(mut self, speed: LinkSpeed) -> Self {
        self.negotiation = Negotiation::Fixed(speed);
        self
    }

    /// How many RX descriptors the driver collects before it returns them to the device. A larger number costs less per
    /// frame, but leaves fewer descriptors for a burst. Default: the driver's choice, often 32. Many drivers require a
    /// divisor of the number of descriptors, some a multiple of 4 or 8. Otherwise they do not use their fast functions
    /// ([`Port::rx_burst_mode`](super::Port::rx_burst_mode)), or reject the configuration, and the port is closed.
    #[doc(alias = "rx_free_thresh")]
    pub const fn rx_free_threshold(mut self, descriptors: u16) -> Self {
        self.tuning.rx_free = Some(descriptors);
        self
    }

    /// The driver frees sent frames once fewer TX descriptors than this are free. Default: the driver's choice.
    #[doc(alias = "tx_free_thresh")]
    pub const fn tx_free_threshold(mut self, descriptors: u16) -> Self {
        self.tuning.tx_free = Some(descriptors);
        self
    }

    /// The number of TX descriptors after which the device reports that they were sent (RS). At most
    /// [`Self::tx_free_threshold`], and for many drivers a divisor of the number of descriptors. Default: the driver's
    /// choice.
    #[doc(alias = "tx_rs_thresh")]
    pub const fn tx_report_threshold(mut self, descriptors: u16) -> Self {
        self.tuning.tx_report = Some(descriptors);
        self
    }

    /// The registers of each RX queue. Default: the driver's choice.
    #[doc(alias = "rx_thresh")]
    pub const fn rx_registers(mut self, registers: RingRegisters) -> Self {
        self.tuning.rx_registers = Some(registers);
        self
    }

    /// The registers of each TX queue. Default: the driver's choice.
    #[doc(alias = "tx_thresh")]
    pub const fn tx_registers(mut self, registers: RingRegisters) -> Self {
        self.tuning.tx_registers = Some(registers);
        self
    }

    /// Whether frames for an RX queue without a free descriptor are dropped, so that they do not hold back frames for
    /// other queues. Default: the driver's choice. Some devices reject a setting that they do not support, others
    /// ignore it ([`RxQueueInfo::drops`](super::RxQueueInfo::drops)).
    #[doc(alias = "rx_drop_en")]
    pub const fn rx_drop(mut self, on: bool) -> Self {
        self.tuning.rx_drop = Some(on);
        self
    }
}
