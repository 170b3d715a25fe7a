// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Configures a device: its offloads, its MTU and its queues.

use super::{Device, Setup, Stage, flows::Flows};
use crate::{
    environment::{ControlGuard, Quirks, driver},
    mempool::PoolHandle,
    port::{PortConfig, PortError, RssFields, RxOffloads, single_queue},
};
use core::mem;
use dpdk_sys as sys;
use std::sync::Arc;

impl Device {
    /// Whether another process has configured the device.
    pub(crate) fn is_foreign(&self) -> bool {
        self.setup().stage == Stage::Foreign
    }

    /// Records the properties of a device that another process has configured.
    ///
    /// # Safety
    /// Another process has configured the device, and this one neither closes it nor hands it out again.
    pub(in crate::port) unsafe fn adopt(&self) -> Result<(), PortError> {
        let info = self.raw_info()?;
        let driver = driver::name(&info);
        *self.setup() = Setup {
            stage: Stage::Foreign,
            quirks: Quirks::of_foreign(&driver, &info),
            driver,
            rx_queues: info.nb_rx_queues,
            tx_queues: info.nb_tx_queues,
            ..Setup::default()
        };
        Ok(())
    }

    /// The numbers of the device's RX and TX queues.
    pub(in crate::port) fn configured_queues(&self) -> (u16, u16) {
        let setup = self.setup();
        (setup.rx_queues, setup.tx_queues)
    }

    /// Configures the device. The RX queues receive into `pools`, one after another.
    ///
    /// # Safety
    /// The port is neither configured nor started, and [`PortConfig::check`] has accepted the settings and the data room of
    /// the pools.
    pub(in crate::port) unsafe fn configure(
        &self,
        config: &PortConfig,
        pools: Vec<Arc<PoolHandle>>,
    ) -> Result<(), PortError> {
        let info = self.raw_info()?;
        let mut conf = sys::rte_eth_conf::default();
        let mut tx_offloads = config.tx_offloads.bits();
        if config.scatter {
            conf.rxmode.offloads = sys::DPDK_SYS_RX_OFFLOAD_SCATTER & info.rx_offload_capa;
            tx_offloads |= sys::DPDK_SYS_TX_OFFLOAD_MULTI_SEGS & info.tx_offload_capa;
        }
        for (wanted, offload) in [
            (config.vlan_filter, sys::DPDK_SYS_RX_OFFLOAD_VLAN_FILTER),
            (config.vlan_strip, sys::DPDK_SYS_RX_OFFLOAD_VLAN_STRIP),
        ] {
            conf.rxmode.offloads |= if wanted { offload } else { 0 };
        }
        conf.rxmode.offloads |= config.rx_offloads.bits();
        // SAFETY: the call changes a struct of ours and keeps no pointer to it.
        unsafe { sys::dpdk_sys_eth_conf_tx_offloads(&raw mut conf, tx_offloads) };
        if config.rx_offloads.contains(RxOffloads::TCP_LRO) {
            // 0 would mean the maximum frame length, which hardly holds two segments.
            conf.rxmode.max_lro_pkt_size = config.max_lro_len.unwrap_or(info.max_lro_pkt_size);
        }
        conf.link_speeds = config.negotiation.bits();
        let usual = RssFields::IP | RssFields::UDP | RssFields::TCP;
        let offered = RssFields::from_bits(info.flow_type_rss_offloads);
        let usual = (config.rx_queues > 1).then(|| usual.intersection(offered));
        if let Some(fields) = config.rss.or(usual) {
            // SAFETY: the call changes a struct of ours and keeps no pointer to it.
            unsafe { sys::dpdk_sys_eth_conf_rss(&raw mut conf, fields.bits()) };
        }
        let driver = driver::name(&info);
        let mut link_interrupts = false;
        if config.link_interrupts || driver::needs_link_interrupts(&driver) {
            // SAFETY: the call reads and changes two structs of ours and keeps no pointer to them.
            link_interrupts = unsafe { sys::dpdk_sys_eth_conf_lsc(&raw mut conf, &raw const *info) } != 0;
        }
        let mut control = self.control()?;
        let rx_interrupts = config.rx_interrupts && Quirks::may_interrupt(&self.drivers(&driver, &control));
        if rx_interrupts {
            // SAFETY: the call changes a struct of ours and keeps no pointer to it.
            unsafe { sys::dpdk_sys_eth_conf_rxq(&raw mut conf) };
        }
        self.check_sole_owner(&control)?;
        self.check_drivers(config, &pools, &control)?;
        let outside = pools.iter().any(|pool| pool.buffers_outside().is_some());
        let mut setup = self.setup();
        let mut former = mem::take(&mut setup.former);
        former.push((mem::take(&mut setup.pools), setup.rss_key.take()));
        // Before the call, which keeps the key's address.
        setup.rss_key = config.rss_key.clone().map(Vec::into_boxed_slice);
        if let Some(key) = &mut setup.rss_key {
            // SAFETY: the call changes a struct of ours; the key in it, whose length was checked, lives until the device is
            // closed.
            unsafe { sys::dpdk_sys_eth_conf_rss_key(&raw mut conf, key.as_mut_ptr(), info.hash_key_size) };
        }
        control.set_configured(self.id);
        let queues = (config.rx_queues, config.tx_queues);
        let result = self.configure_raw(&control, queues, &conf);
        // Only now are all parts known.
        let drivers = self.drivers(&driver, &control);
        let quirks = Quirks::of_own(&drivers, tx_offloads, outside);
        *setup = Setup {
            stage: Stage::Configured,
            driver,
            quirks,
            tx_offloads: config.tx_offloads,
            rx_queues: config.rx_queues,
            tx_queues: config.tx_queues,
            queues_out: (0, 0),
            deferred_start: config.deferred_start,
            link_interrupts,
            rx_interrupts,
            flows: Flows::default(),
            rss_key: setup.rss_key.take(),
            pools,
            former,
        };
        self.check("rte_eth_dev_configure", result, "configure the port")?;
        self.check_members(&control)?;
        self.check_drivers(config, &setup.pools, &control)?;
        if let Some(mtu) = config.mtu {
            // SAFETY: the port exists until the drop of this `Device` closes it, is not started, since it is still
            // being configured, and the control plane is locked.
            let mut result = unsafe { sys::rte_eth_dev_set_mtu(self.id, mtu) };
            let mut call = "rte_eth_dev_set_mtu";
            // Some drivers cannot change the MTU, and accept it only with the configuration.
            if result == -sys::ENOTSUP.cast_signed() {
                conf.rxmode.mtu = u32::from(mtu);
                result = self.configure_raw(&control, queues, &conf);
                call = "rte_eth_dev_configure";
            }
            self.check(call, result, format!("set MTU {mtu}"))?;
        }
        // SAFETY: the port exists until the drop of this `Device` closes it; the call reads a number.
        let socket = unsafe { sys::rte_eth_dev_socket_id(self.id) }.cast_unsigned();
        let pools: Vec<_> = setup.pools.iter().map(|pool| pool.pool.as_ptr()).collect();
        for (queue, pool) in (0..config.rx_queues).zip(pools.into_iter().cycle()) {
            let mut rx = info.default_rxconf;
            config.tuning.apply_rx(&mut rx);
            rx.offloads = conf.rxmode.offloads;
            rx.rx_deferred_start = u8::from(config.deferred_start);
            // SAFETY: the port was configured with this queue a few lines before and is not started; `pools` keeps the
            // pool until the device is closed.
            let result = unsafe {
                sys::rte_eth_rx_queue_setup(self.id, queue, config.rx_descriptors, socket, &raw const rx, pool)
            };
            if result < 0 && self.frees_twice(&control) {
                setup.stage = Stage::Unclosable("its driver cannot close it after it has refused a queue");
            }
            self.check_deferred(config, result)?;
            self.check("rte_eth_rx_queue_setup", result, format!("set up RX queue {queue}"))?;
        }
        for queue in 0..config.tx_queues {
            let mut tx = info.default_txconf;
            config.tuning.apply_tx(&mut tx);
            tx.offloads = tx_offloads;
            tx.tx_deferred_start = u8::from(config.deferred_start);
            // SAFETY: the port was configured with this queue a few lines before and is not started; the call copies
            // `tx`.
            let result =
                unsafe { sys::rte_eth_tx_queue_setup(self.id, queue, config.tx_descriptors, socket, &raw const tx) };
            self.check_deferred(config, result)?;
            self.check("rte_eth_tx_queue_setup", result, format!("set up TX queue {queue}"))?;
        }
        if drivers.iter().any(|(driver, info)| driver::has_lost_interface(driver, info)) {
            return Err(self.lacks(
                "interface in this network namespace: move the interface to another one after the port is started",
            ));
        }
        if config.deferred_start {
            // They are stopped already, but with older releases only these calls show whether the driver supports it.
            // SAFETY: the control plane is locked, and nobody has the queues yet.
            unsafe { self.switch_all((config.rx_queues, config.tx_queues), false) }?;
        }
        Ok(())
    }

    /// Rejects what the drivers, including those of parts, would do to the pools.
    fn check_drivers(
        &self,
        config: &PortConfig,
        pools: &[Arc<PoolHandle>],
        control: &ControlGuard<'_>,
    ) -> Result<(), PortError> {
        // Without an RX queue nothing is received.
        let data_room = pools.iter().map(|pool| pool.data_room).min().unwrap_or(u16::MAX);
        self.check_driver(data_room, u32::from(config.rx_queues) + u32::from(config.tx_queues), control)?;
        pools.iter().try_for_each(|pool| self.check_buffers(pool, control))
    }

    /// Newer releases check that the driver can start a queue that must not start with the port.
    fn check_deferred(&self, config: &PortConfig, result: i32) -> Result<(), PortError> {
        let lacks = config.deferred_start && result == -sys::ENOTSUP.cast_signed();
        if lacks { Err(self.lacks(single_queue::LACKING)) } else { Ok(()) }
    }
}
