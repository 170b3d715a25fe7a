// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a device reports about itself, its counters, and its MTU.

use super::Device;
use crate::{
    MacAddr,
    environment::{DeviceInfo, Quirks, driver},
    port::{Link, LinkSpeeds, PortError, PortInfo, PortStats, RssFields, RxOffloads, TxOffloads, info::offload_names},
};
use dpdk_sys as sys;

impl Device {
    pub(super) fn raw_info(&self) -> Result<DeviceInfo<'_>, PortError> {
        let _control = self.control()?;
        // SAFETY: the EAL is initialised, since there is a port, which exists until the drop of this `Device` closes it.
        let asked = unsafe { DeviceInfo::of(self.id) };
        let result = asked.as_ref().map_or_else(|result| *result, |_| 0);
        self.check("rte_eth_dev_info_get", result, "read what the device can do")?;
        Ok(asked.unwrap_or_default())
    }

    pub(in crate::port) fn info(&self) -> Result<PortInfo, PortError> {
        let info = self.raw_info()?;
        let driver = driver::name(&info);
        let control = self.control()?;
        let quirks = Quirks::of_own(&self.drivers(&driver, &control), 0, false);
        drop(control);
        let mut conf = sys::rte_eth_conf::default();
        // SAFETY: the call reads and changes two structs of ours and keeps no pointer to them.
        let link_interrupts = unsafe { sys::dpdk_sys_eth_conf_lsc(&raw mut conf, &raw const *info) } != 0;
        let strips = info.rx_offload_capa & sys::DPDK_SYS_RX_OFFLOAD_VLAN_STRIP != 0;
        Ok(PortInfo {
            vlan_strip: strips && !quirks.strips_blindly,
            restarts: !quirks.stops_for_good,
            driver,
            max_rx_queues: info.max_rx_queues,
            max_tx_queues: info.max_tx_queues,
            rx_descriptors: info.rx_desc_lim.into(),
            tx_descriptors: info.tx_desc_lim.into(),
            min_data_room: info.min_rx_bufsize.saturating_add(sys::RTE_PKTMBUF_HEADROOM),
            min_mtu: info.min_mtu,
            max_mtu: info.max_mtu,
            max_mac_addrs: info.max_mac_addrs,
            rss_fields: RssFields::from_bits(info.flow_type_rss_offloads),
            rss_key_len: info.hash_key_size,
            rss_table_len: info.reta_size,
            vlan_filter: info.rx_offload_capa & sys::DPDK_SYS_RX_OFFLOAD_VLAN_FILTER != 0,
            link_interrupts,
            speeds: LinkSpeeds::from_bits(info.speed_capa),
            max_lro_len: Some(info.max_lro_pkt_size).filter(|most| *most > 0),
            offers_rx: RxOffloads::from_bits(info.rx_offload_capa),
            offers_tx: TxOffloads::from_bits(info.tx_offload_capa),
            // SAFETY: DPDK returns the name of any number, and `Unknown` where it has none.
            rx_offloads: unsafe { offload_names(info.rx_offload_capa, sys::rte_eth_dev_rx_offload_name) },
            // SAFETY: DPDK returns the name of any number, and `Unknown` where it has none.
            tx_offloads: unsafe { offload_names(info.tx_offload_capa, sys::rte_eth_dev_tx_offload_name) },
        })
    }

    pub(in crate::port) fn mac_addr(&self) -> Result<MacAddr, PortError> {
        let mut addr = sys::rte_ether_addr::default();
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it; the control plane is locked, under which alone the
        // address is changed. The call fills a struct of ours.
        let result = unsafe { sys::rte_eth_macaddr_get(self.id, &raw mut addr) };
        self.check("rte_eth_macaddr_get", result, "read the MAC address")?;
        Ok(MacAddr(addr.addr_bytes))
    }

    pub(in crate::port) fn mtu(&self) -> Result<u16, PortError> {
        let mut mtu = 0;
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it; the control plane is locked, under which alone the
        // MTU is changed. The call writes to a number of ours.
        let result = unsafe { sys::rte_eth_dev_get_mtu(self.id, &raw mut mtu) };
        self.check("rte_eth_dev_get_mtu", result, "read the MTU")?;
        Ok(mtu)
    }

    /// # Safety
    /// The port is configured and not started.
    pub(in crate::port) unsafe fn set_mtu(&self, mtu: u16) -> Result<(), PortError> {
        let _control = self.control()?;
        // SAFETY: the caller promises that the port is not started; the control plane is locked.
        let result = unsafe { sys::rte_eth_dev_set_mtu(self.id, mtu) };
        self.check("rte_eth_dev_set_mtu", result, format!("set MTU {mtu}"))
    }

    pub(in crate::port) fn stats(&self) -> Result<PortStats, PortError> {
        let mut stats = sys::rte_eth_stats::default();
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked; the call
        // fills a struct of ours.
        let result = unsafe { sys::rte_eth_stats_get(self.id, &raw mut stats) };
        self.check("rte_eth_stats_get", result, "read the statistics")?;
        Ok(stats.into())
    }

    pub(in crate::port) fn reset_stats(&self) -> Result<(), PortError> {
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked.
        let result = unsafe { sys::rte_eth_stats_reset(self.id) };
        self.check("rte_eth_stats_reset", result, "reset the statistics")
    }

    pub(in crate::port) fn link(&self, wait: bool) -> Result<Link, PortError> {
        let mut link = sys::dpdk_sys_link::default();
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked; the call
        // fills a struct of ours.
        let result = unsafe { sys::dpdk_sys_eth_link_get(self.id, i32::from(wait), &raw mut link) };
        self.check(
            if wait { "rte_eth_link_get" } else { "rte_eth_link_get_nowait" },
            result,
            "read the state of the link",
        )?;
        Ok(link.into())
    }
}
