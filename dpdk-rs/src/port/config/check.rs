// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Compares a configuration with the device's capabilities.

use super::PortConfig;
use crate::port::{DescriptorLimits, PortError, PortInfo, RssFields, RxOffloads, TxOffloads, device::Device};

/// DPDK accepts no packet that is shorter than the shortest frame, including the FCS (`RTE_ETHER_MIN_LEN`).
const MIN_LRO_LEN: u32 = 64;

impl PortConfig {
    /// Checks every number, and the data room of the pool's mbufs, against the device's capabilities.
    pub(in crate::port) fn check(&self, device: &Device, data_room: u16) -> Result<(), PortError> {
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

    /// Checks the settings for merged packets against the device's capabilities.
    fn compare_lro(&self, most: Option<u32>) -> Result<(), (&'static str, u32, String)> {
        let merges = self.rx_offloads.contains(RxOffloads::TCP_LRO);
        if merges && self.rx_offloads.contains(RxOffloads::KEEP_CRC) {
            // Some drivers refuse to start, others ignore one of the two offloads.
            let limits = "one: a merged packet was never sent, and has no FCS".to_owned();
            return Err(("offloads of TCP_LRO and KEEP_CRC", 2, limits));
        }
        let Some(asked) = self.max_lro_len else { return Ok(()) };
        let unsupported = |limits| Err(("maximum length of a TCP_LRO packet in bytes", asked, limits));
        match most {
            _ if !merges => unsupported("none without RxOffloads::TCP_LRO".to_owned()),
            None => unsupported("no choice: leave max_lro_len out".to_owned()),
            Some(most) if !(MIN_LRO_LEN..=most).contains(&asked) => unsupported(format!("{MIN_LRO_LEN} to {most}")),
            Some(_) => Ok(()),
        }
    }

    /// Checks all numbers. Returns the first setting that is out of range, its requested value and the supported range.
    fn compare(&self, info: &PortInfo, data_room: u16) -> Result<(), (&'static str, u16, String)> {
        let queues = |what, asked, most| {
            if asked <= most { Ok(()) } else { Err((what, asked, format!("at most {most}"))) }
        };
        let descriptors = |what, asked, limits: DescriptorLimits| {
            if limits.allows(asked) { Ok(()) } else { Err((what, asked, limits.to_string())) }
        };
        if self.rx_queues == 0 && self.tx_queues == 0 {
            // DPDK would choose the device's preferred number.
            return Err(("queues", 0, "1 or more".to_owned()));
        }
        queues("RX queues", self.rx_queues, info.max_rx_queues)?;
        queues("TX queues", self.tx_queues, info.max_tx_queues)?;
        descriptors("RX descriptors", self.rx_descriptors, info.rx_descriptors)?;
        descriptors("TX descriptors", self.tx_descriptors, info.tx_descriptors)?;
        if u32::from(data_room) < info.min_data_room {
            return Err(("data room of an mbuf in bytes", data_room, format!("{} or more", info.min_data_room)));
        }
        self.tuning.check(self.rx_descriptors, self.tx_descriptors)?;
        match self.mtu {
            Some(mtu) if !(info.min_mtu..=info.max_mtu).contains(&mtu) => {
                Err(("MTU in bytes", mtu, format!("{} to {}", info.min_mtu, info.max_mtu)))
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
                "threshold of RX descriptors",
                1024,
                "less than their number, 1024",
            ),
            (config.clone().mtu(67), "MTU in bytes", 67, "68 to 9710"),
            (config.clone().mtu(9711), "MTU in bytes", 9711, "68 to 9710"),
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
            let error = ("maximum length of a TCP_LRO packet in bytes", asked, limits.to_owned());
            assert_eq!(config.compare_lro(most), Err(error));
        }
        let both = config.clone().rx_offloads(RxOffloads::TCP_LRO | RxOffloads::KEEP_CRC);
        let refused = both.compare_lro(None).map_err(|(what, asked, _)| (what, asked));
        assert_eq!(refused, Err(("offloads of TCP_LRO and KEEP_CRC", 2)));
        let error = ("data room of an mbuf in bytes", 1151, "1152 or more".to_owned());
        assert_eq!(config.compare(&info(), 1151), Err(error));
    }
}
