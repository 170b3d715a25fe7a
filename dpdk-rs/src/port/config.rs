// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! How a port is to be set up.

use super::{
    DescriptorLimits, PortError, PortInfo, RssFields, RxOffloads, TxOffloads, device::Device, link_speed::Negotiation,
    tuning::Tuning,
};

/// DPDK takes nothing shorter than the shortest frame, FCS included (`RTE_ETHER_MIN_LEN`).
const MIN_LRO_LEN: u32 = 64;

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
    /// `None`: what is usual, with several RX queues.
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
    /// What is not given stays as the driver likes it.
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
    /// How many RX queues; with more than one, frames are spread by a hash of their addresses and ports (RSS), as far
    /// as the device can, unless [`Self::rss`] says otherwise.
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

    /// Spread frames over the RX queues by a hash of these fields, all of which the device must offer
    /// ([`PortInfo::rss_fields`](super::PortInfo::rss_fields)).
    #[doc(alias = "RTE_ETH_MQ_RX_RSS")]
    pub const fn rss(mut self, fields: RssFields) -> Self {
        self.rss = Some(fields);
        self
    }

    /// The key of that hash, as long as the device asks for ([`PortInfo::rss_key_len`](super::PortInfo::rss_key_len)); the
    /// device's own unless given.
    pub fn rss_key(mut self, key: impl Into<Vec<u8>>) -> Self {
        self.rss_key = Some(key.into());
        self
    }

    /// Let the queues of the started port wait until each is started ([`Port::start_stopped`](super::Port::start_stopped)), so
    /// that none has received a frame before. A device that cannot start and stop single queues refuses the configuration:
    /// then it is closed.
    #[doc(alias = "rx_deferred_start")]
    #[doc(alias = "tx_deferred_start")]
    pub const fn deferred_start(mut self, on: bool) -> Self {
        self.deferred_start = on;
        self
    }

    /// Receive frames without a VLAN tag and of those VLANs that [`Port::set_vlan`](super::Port::set_vlan) names, no others.
    #[doc(alias = "RTE_ETH_RX_OFFLOAD_VLAN_FILTER")]
    pub const fn vlan_filter(mut self, on: bool) -> Self {
        self.vlan_filter = on;
        self
    }

    /// Take the VLAN tag off received frames.
    #[doc(alias = "RTE_ETH_RX_OFFLOAD_VLAN_STRIP")]
    pub const fn vlan_strip(mut self, on: bool) -> Self {
        self.vlan_strip = on;
        self
    }

    /// Have the device tell when its link goes up or down: needed for
    /// [`Port::on_link_change`](super::Port::on_link_change).
    #[doc(alias = "rte_eth_intr_conf")]
    pub const fn link_interrupts(mut self, on: bool) -> Self {
        self.link_interrupts = on;
        self
    }

    /// Have the device tell when frames have come: needed for [`RxQueue::wait`](crate::RxQueue::wait). Some devices that cannot
    /// refuse to start, others to wait.
    #[doc(alias = "rte_eth_intr_conf")]
    pub const fn rx_interrupts(mut self, on: bool) -> Self {
        self.rx_interrupts = on;
        self
    }

    /// What the device is to find out about received frames, all of which it must offer
    /// ([`PortInfo::offers_rx`](super::PortInfo::offers_rx)).
    #[doc(alias = "RTE_ETH_RX_OFFLOAD_CHECKSUM")]
    pub const fn rx_offloads(mut self, offloads: RxOffloads) -> Self {
        self.rx_offloads = offloads;
        self
    }

    /// The longest packet that [`RxOffloads::TCP_LRO`] may make, in bytes from the Ethernet header on; as long as the device has it
    /// ([`PortInfo::max_lro_len`](super::PortInfo::max_lro_len)) unless given.
    #[doc(alias = "max_lro_pkt_size")]
    pub const fn max_lro_len(mut self, bytes: u32) -> Self {
        self.max_lro_len = Some(bytes);
        self
    }

    /// What the device can be asked to do with frames that it sends ([`TxQueue::prepare`](crate::TxQueue::prepare)), all of which
    /// it must offer ([`PortInfo::offers_tx`](super::PortInfo::offers_tx)).
    #[doc(alias = "RTE_ETH_TX_OFFLOAD_TCP_TSO")]
    pub const fn tx_offloads(mut self, offloads: TxOffloads) -> Self {
        self.tx_offloads = offloads;
        self
    }

    /// Compares every number, and the data room of the pool's mbufs, with what the device supports.
    pub(super) fn check(&self, device: &Device, data_room: u16) -> Result<(), PortError> {
        let info = device.info()?;
        self.compare(&info, data_room)
            .map_err(|(what, asked, limits)| device.unsupported(what, u32::from(asked), limits))?;
        device.check_rss(self.rss.unwrap_or(RssFields::NONE), self.rss_key.as_deref())?;
        let wanted = [
            (self.vlan_filter, info.vlan_filter, "VLAN filter"),
            (self.vlan_strip, info.vlan_strip, "VLAN strip"),
            (self.link_interrupts, info.link_interrupts, "link interrupts"),
        ];
        if let Some((.., what)) = wanted.into_iter().find(|(wanted, there, _)| *wanted && !there) {
            return Err(device.lacks(what));
        }
        let (rx, tx) = (self.rx_offloads.without(info.offers_rx), self.tx_offloads.without(info.offers_tx));
        if rx != RxOffloads::NONE {
            return Err(device.lacks(format!("{rx} for received frames")));
        }
        if tx != TxOffloads::NONE {
            return Err(device.lacks(format!("{tx} for frames that it sends")));
        }
        self.compare_lro(info.max_lro_len).map_err(|(what, asked, limits)| device.unsupported(what, asked, limits))?;
        self.negotiation.check(device, info.speeds)
    }

    /// Compares what is asked of merged packets with what the device has.
    fn compare_lro(&self, most: Option<u32>) -> Result<(), (&'static str, u32, String)> {
        let merges = self.rx_offloads.contains(RxOffloads::TCP_LRO);
        if merges && self.rx_offloads.contains(RxOffloads::KEEP_CRC) {
            // Some drivers refuse when they are started, others leave one of the two out.
            let limits = "one: a merged packet was never sent, and has no FCS".to_owned();
            return Err(("of the offloads TCP_LRO and KEEP_CRC together", 2, limits));
        }
        let Some(asked) = self.max_lro_len else { return Ok(()) };
        let unsupported = |limits| Err(("bytes of a packet made by TCP_LRO", asked, limits));
        match most {
            _ if !merges => unsupported("none without RxOffloads::TCP_LRO".to_owned()),
            None => unsupported("no choice: leave max_lro_len out".to_owned()),
            Some(most) if !(MIN_LRO_LEN..=most).contains(&asked) => unsupported(format!("{MIN_LRO_LEN} to {most}")),
            Some(_) => Ok(()),
        }
    }

    /// What does not fit: what it is, how many were asked for, and what the device supports.
    fn compare(&self, info: &PortInfo, data_room: u16) -> Result<(), (&'static str, u16, String)> {
        let queues = |what, asked, most| {
            if asked <= most { Ok(()) } else { Err((what, asked, format!("at most {most}"))) }
        };
        let descriptors = |what, asked, limits: DescriptorLimits| {
            if limits.allows(asked) { Ok(()) } else { Err((what, asked, limits.to_string())) }
        };
        if self.rx_queues == 0 && self.tx_queues == 0 {
            // DPDK would make as many as the device likes best.
            return Err(("queues", 0, "1 or more".to_owned()));
        }
        queues("RX queues", self.rx_queues, info.max_rx_queues)?;
        queues("TX queues", self.tx_queues, info.max_tx_queues)?;
        descriptors("RX descriptors", self.rx_descriptors, info.rx_descriptors)?;
        descriptors("TX descriptors", self.tx_descriptors, info.tx_descriptors)?;
        if u32::from(data_room) < info.min_data_room {
            return Err(("bytes of data room in an mbuf", data_room, format!("{} or more", info.min_data_room)));
        }
        self.tuning.check(self.rx_descriptors, self.tx_descriptors)?;
        match self.mtu {
            Some(mtu) if !(info.min_mtu..=info.max_mtu).contains(&mtu) => {
                Err(("bytes of MTU", mtu, format!("{} to {}", info.min_mtu, info.max_mtu)))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DescriptorLimits, PortConfig, PortInfo, RssFields, RxOffloads, TxOffloads};
    use crate::port::LinkSpeeds;

    fn info() -> PortInfo {
        PortInfo {
            driver: "net_test".to_owned(),
            max_rx_queues: 4,
            max_tx_queues: 2,
            rx_descriptors: DescriptorLimits { min: 64, max: 4096, align: 32 },
            tx_descriptors: DescriptorLimits { min: 8, max: 1024, align: 8 },
            min_data_room: 1152,
            min_mtu: 68,
            max_mtu: 9710,
            max_mac_addrs: 1,
            rss_fields: RssFields::NONE,
            rss_key_len: 0,
            rss_table_len: 0,
            vlan_filter: false,
            vlan_strip: false,
            link_interrupts: false,
            speeds: LinkSpeeds::NONE,
            max_lro_len: None,
            restarts: true,
            offers_rx: RxOffloads::NONE,
            offers_tx: TxOffloads::NONE,
            rx_offloads: Vec::new(),
            tx_offloads: Vec::new(),
        }
    }

    #[test]
    fn what_is_on_the_limit_passes() {
        let config = PortConfig::default();
        assert_eq!(config.compare(&info(), 1152), Ok(()));
        let most = config.rx_queues(4).tx_queues(2).rx_descriptors(4096).tx_descriptors(8);
        assert_eq!(most.clone().mtu(9710).compare(&info(), u16::MAX), Ok(()));
        assert_eq!(most.mtu(68).compare(&info(), 2176), Ok(()));
        let lro = PortConfig::default().rx_offloads(RxOffloads::TCP_LRO);
        assert_eq!((lro.compare_lro(None), lro.clone().compare_lro(Some(100))), (Ok(()), Ok(())));
        for len in [64, 100] {
            assert_eq!(lro.clone().max_lro_len(len).compare_lro(Some(100)), Ok(()));
        }
        let kept = PortConfig::default().rx_offloads(RxOffloads::KEEP_CRC);
        assert_eq!(kept.compare_lro(None), Ok(()));
    }

    #[test]
    fn what_is_beyond_is_named_with_the_limit() {
        let config = PortConfig::default();
        for (config, what, asked, limits) in [
            (config.clone().rx_queues(0).tx_queues(0), "queues", 0, "1 or more"),
            (config.clone().rx_queues(5), "RX queues", 5, "at most 4"),
            (config.clone().tx_queues(3), "TX queues", 3, "at most 2"),
            (config.clone().rx_descriptors(1000), "RX descriptors", 1000, "64 to 4096 in steps of 32"),
            (config.clone().rx_descriptors(32), "RX descriptors", 32, "64 to 4096 in steps of 32"),
            (config.clone().tx_descriptors(2048), "TX descriptors", 2048, "8 to 1024 in steps of 8"),
            (
                config.clone().rx_free_threshold(1024),
                "as threshold of RX descriptors",
                1024,
                "less than their number, 1024",
            ),
            (config.clone().mtu(67), "bytes of MTU", 67, "68 to 9710"),
            (config.clone().mtu(9711), "bytes of MTU", 9711, "68 to 9710"),
        ] {
            assert_eq!(config.compare(&info(), 2176), Err((what, asked, limits.to_owned())));
        }
        let lro = config.clone().rx_offloads(RxOffloads::TCP_LRO);
        for (config, most, asked, limits) in [
            (config.clone().max_lro_len(9000), Some(65_280), 9000, "none without RxOffloads::TCP_LRO"),
            (lro.clone().max_lro_len(9000), None, 9000, "no choice: leave max_lro_len out"),
            (lro.clone().max_lro_len(63), Some(65_280), 63, "64 to 65280"),
            (lro.clone().max_lro_len(65_281), Some(65_280), 65_281, "64 to 65280"),
        ] {
            let error = ("bytes of a packet made by TCP_LRO", asked, limits.to_owned());
            assert_eq!(config.compare_lro(most), Err(error));
        }
        let both = config.clone().rx_offloads(RxOffloads::TCP_LRO | RxOffloads::KEEP_CRC);
        let refused = both.compare_lro(None).map_err(|(what, asked, _)| (what, asked));
        assert_eq!(refused, Err(("of the offloads TCP_LRO and KEEP_CRC together", 2)));
        let error = ("bytes of data room in an mbuf", 1151, "1152 or more".to_owned());
        assert_eq!(config.compare(&info(), 1151), Err(error));
    }
}
