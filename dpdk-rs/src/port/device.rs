// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A device as the port and its queues share it: the calls of DPDK's control plane, and the end.

use super::{Link, PortConfig, PortError, PortId, PortInfo, PortStats, driver};
use crate::{
    Errno, MacAddr,
    eal::{Control, Environment},
    mempool::PoolHandle,
    queue,
};
use core::{
    ffi::{CStr, c_char},
    iter,
};
use dpdk_sys as sys;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// One Ethernet device, shared by its port and its queues. The last of them stops and closes it.
pub(crate) struct Device {
    id: u16,
    name: String,
    environment: Arc<Environment>,
    setup: Mutex<Setup>,
}

/// What has been done to the device so far.
#[derive(Default)]
struct Setup {
    /// `rte_eth_dev_configure` was called: the device must be closed.
    configured: bool,
    started: bool,
    /// The most segments of a frame that the driver sends right, as it is configured.
    most_segments: u16,
    /// The driver sends only segments right that have room in the mbufs of the first one's pool.
    trusts_lengths: bool,
    /// The driver loses parts of some received frames.
    miscounts: bool,
    /// A call failed after which the driver cannot close the device.
    left: bool,
    rx_queues: u16,
    tx_queues: u16,
    /// What the RX queues receive into. Kept until the device is closed: drivers hold on to it.
    _pool: Option<Arc<PoolHandle>>,
}

/// The numbers of all ports, in ascending order. They are those of the moment at which each is asked for.
fn ids() -> impl Iterator<Item = u16> {
    let mut next = 0;
    iter::from_fn(move || {
        // SAFETY: the EAL is initialised and its control plane locked, which all callers of `ids` see to.
        let found = unsafe { sys::dpdk_sys_eth_find_next(next) };
        let id = u16::try_from(found).ok().filter(|id| u32::from(*id) < sys::RTE_MAX_ETHPORTS)?;
        next = id + 1;
        Some(id)
    })
}

/// Takes every free port.
pub(super) fn take_all(environment: &Arc<Environment>) -> Vec<Device> {
    if environment.is_forked() {
        return Vec::new();
    }
    let mut control = environment.control();
    let mut devices = Vec::new();
    for id in ids() {
        let Some(taken) = control.taken.get_mut(usize::from(id)).filter(|taken| !**taken) else { continue };
        *taken = true;
        let name = port_name(id);
        devices.push(Device { id, name, environment: Arc::clone(environment), setup: Mutex::default() });
    }
    devices
}

/// The names of all ports, whether or not somebody has taken them.
pub(super) fn names(environment: &Environment) -> Vec<String> {
    if environment.is_forked() {
        return Vec::new();
    }
    let _control = environment.control();
    ids().map(port_name).collect()
}

/// Closes the ports that nobody has configured, before the EAL is cleaned up: its clean-up of the bus stumbles over a
/// device that takes others with it (`net_failsafe`, DPDK 22.11).
pub(crate) fn close_rest(_control: &MutexGuard<'_, Control>) {
    for id in ids() {
        // SAFETY: the port exists, and no `Device` is left that could use it.
        unsafe { sys::rte_eth_dev_close(id) };
    }
}

fn port_name(id: u16) -> String {
    let mut name: [c_char; sys::RTE_ETH_NAME_MAX_LEN as usize] = [0; _];
    // SAFETY: the array has RTE_ETH_NAME_MAX_LEN bytes, which is what the call may write.
    if unsafe { sys::rte_eth_dev_get_name_by_port(id, name.as_mut_ptr()) } != 0 {
        return format!("port {id}");
    }
    // SAFETY: the call succeeded, so it wrote a string that ends within the array.
    unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned()
}

impl Device {
    pub(crate) const fn id(&self) -> PortId {
        PortId(self.id)
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    fn setup(&self) -> MutexGuard<'_, Setup> {
        self.setup.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks the control plane, unless it is that of a parent process.
    fn control(&self) -> Result<MutexGuard<'_, Control>, PortError> {
        if self.environment.is_forked() {
            return Err(PortError::Forked { port: self.id(), name: self.name.clone() });
        }
        Ok(self.environment.control())
    }

    /// The result of a call of DPDK, or an error that names the port and the action.
    fn check(&self, call: &'static str, result: i32, action: impl Into<String>) -> Result<(), PortError> {
        Errno::check(result).map(|_| ()).map_err(|errno| PortError::Refused {
            port: self.id(),
            name: self.name.clone(),
            action: action.into(),
            call,
            errno,
        })
    }

    /// The most segments of a frame that can be sent.
    pub(crate) fn most_segments(&self) -> u16 {
        self.setup().most_segments
    }

    /// Whether no segment may be longer than the room for data in the mbufs of the first one's pool.
    pub(crate) fn trusts_lengths(&self) -> bool {
        self.setup().trusts_lengths
    }

    /// Whether received frames may be shorter than they say.
    pub(crate) fn miscounts(&self) -> bool {
        self.setup().miscounts
    }

    fn raw_info(&self) -> Result<sys::rte_eth_dev_info, PortError> {
        let mut info = sys::rte_eth_dev_info::default();
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it; the call fills a struct of ours.
        let result = unsafe { sys::rte_eth_dev_info_get(self.id, &raw mut info) };
        self.check("rte_eth_dev_info_get", result, "read what the device can do")?;
        Ok(info)
    }

    /// Refuses what the driver would do beyond the mbufs' room, as far as its arguments tell: its own and, since it may
    /// be one that combines others, those of the devices that something in the process owns.
    pub(super) fn check_driver(&self, data_room: u16) -> Result<(), PortError> {
        let room = u32::from(data_room).saturating_sub(sys::RTE_PKTMBUF_HEADROOM);
        let control = self.control()?;
        match self.parts(&control).find_map(|(id, info)| driver::danger(&info, room, id != self.id)) {
            Some((what, asked, limits)) => {
                Err(PortError::Unsupported { port: self.id(), name: self.name.clone(), what, asked, limits })
            }
            None => Ok(()),
        }
    }

    /// The number of this device and what DPDK says of it; since it may be one that combines others, also of those that
    /// something in the process owns.
    fn parts<'a>(
        &self,
        _control: &'a MutexGuard<'_, Control>,
    ) -> impl Iterator<Item = (u16, sys::rte_eth_dev_info)> + 'a {
        let own = self.id;
        let mut next = 0;
        let all = iter::from_fn(move || {
            // SAFETY: the EAL is initialised and the control plane locked; any number is allowed.
            let id = unsafe { sys::rte_eth_find_next(next) };
            next = id.saturating_add(1);
            (u32::from(id) < sys::RTE_MAX_ETHPORTS).then_some(id)
        });
        all.filter_map(move |id| {
            // SAFETY: the EAL is initialised and the control plane locked.
            let is_free = unsafe { sys::dpdk_sys_eth_find_next(id) } == u64::from(id);
            if is_free && id != own {
                return None;
            }
            let mut info = sys::rte_eth_dev_info::default();
            // SAFETY: the call has just named the port, and the control plane is locked; it fills a struct of ours.
            let result = unsafe { sys::rte_eth_dev_info_get(id, &raw mut info) };
            (result >= 0).then_some((id, info))
        })
    }

    pub(super) fn info(&self) -> Result<PortInfo, PortError> {
        let info = self.raw_info()?;
        Ok(PortInfo {
            driver: driver::name(&info),
            max_rx_queues: info.max_rx_queues,
            max_tx_queues: info.max_tx_queues,
            rx_descriptors: info.rx_desc_lim.into(),
            tx_descriptors: info.tx_desc_lim.into(),
            min_data_room: info.min_rx_bufsize.saturating_add(sys::RTE_PKTMBUF_HEADROOM),
            min_mtu: info.min_mtu,
            max_mtu: info.max_mtu,
        })
    }

    pub(super) fn configure(&self, config: &PortConfig, pool: &Arc<PoolHandle>) -> Result<(), PortError> {
        let info = self.raw_info()?;
        let mut conf = sys::rte_eth_conf::default();
        if config.scatter {
            conf.rxmode.offloads = sys::DPDK_SYS_RX_OFFLOAD_SCATTER & info.rx_offload_capa;
            conf.txmode.offloads = sys::DPDK_SYS_TX_OFFLOAD_MULTI_SEGS & info.tx_offload_capa;
        }
        if config.rx_queues > 1 {
            let wanted = sys::DPDK_SYS_RSS_IP | sys::DPDK_SYS_RSS_UDP | sys::DPDK_SYS_RSS_TCP;
            // SAFETY: the call changes a struct of ours and keeps no pointer to it.
            unsafe { sys::dpdk_sys_eth_conf_rss(&raw mut conf, wanted & info.flow_type_rss_offloads) };
        }
        let driver = driver::name(&info);
        if driver::needs_link_interrupts(&driver) {
            // SAFETY: the call reads and changes two structs of ours and keeps no pointer to them.
            unsafe { sys::dpdk_sys_eth_conf_lsc(&raw mut conf, &raw const info) };
        }
        let control = self.control()?;
        let mut setup = self.setup();
        // SAFETY: the port exists until the drop of this `Device` closes it, is not started, since it is still being
        // configured, and the control plane is locked; the call copies `conf`.
        let result =
            unsafe { sys::rte_eth_dev_configure(self.id, config.rx_queues, config.tx_queues, &raw const conf) };
        *setup = Setup {
            configured: true,
            started: false,
            most_segments: driver::most_segments(&driver, &info, conf.txmode.offloads),
            trusts_lengths: driver::trusts_lengths(&driver),
            miscounts: driver::miscounts(&driver),
            left: false,
            rx_queues: config.rx_queues,
            tx_queues: config.tx_queues,
            _pool: Some(Arc::clone(pool)),
        };
        self.check("rte_eth_dev_configure", result, "configure the port")?;
        if let Some(mtu) = config.mtu {
            // SAFETY: the port exists until the drop of this `Device` closes it, is not started, since it is still
            // being configured, and the control plane is locked.
            let mut result = unsafe { sys::rte_eth_dev_set_mtu(self.id, mtu) };
            let mut call = "rte_eth_dev_set_mtu";
            // Some drivers cannot change the MTU, and take it with the configuration only.
            if result == -sys::ENOTSUP.cast_signed() {
                conf.rxmode.mtu = u32::from(mtu);
                let (rx, tx) = (config.rx_queues, config.tx_queues);
                // SAFETY: the port exists until the drop of this `Device` closes it, is not started, since it is still
                // being configured, and the control plane is locked; the call copies `conf`.
                result = unsafe { sys::rte_eth_dev_configure(self.id, rx, tx, &raw const conf) };
                call = "rte_eth_dev_configure";
            }
            self.check(call, result, format!("set MTU {mtu}"))?;
        }
        // SAFETY: the port exists until the drop of this `Device` closes it; the call reads a number.
        let socket = unsafe { sys::rte_eth_dev_socket_id(self.id) }.cast_unsigned();
        for queue in 0..config.rx_queues {
            let mut rx = info.default_rxconf;
            rx.offloads = conf.rxmode.offloads;
            // SAFETY: the port was configured with this queue a few lines before and is not started; `_pool` keeps the
            // pool until the device is closed.
            let result = unsafe {
                sys::rte_eth_rx_queue_setup(
                    self.id,
                    queue,
                    config.rx_descriptors,
                    socket,
                    &raw const rx,
                    pool.pool.as_ptr(),
                )
            };
            setup.left = result < 0 && self.parts(&control).any(|(_, info)| driver::frees_twice(&info));
            self.check("rte_eth_rx_queue_setup", result, format!("set up RX queue {queue}"))?;
        }
        for queue in 0..config.tx_queues {
            let mut tx = info.default_txconf;
            tx.offloads = conf.txmode.offloads;
            // SAFETY: the port was configured with this queue a few lines before and is not started; the call copies
            // `tx`.
            let result =
                unsafe { sys::rte_eth_tx_queue_setup(self.id, queue, config.tx_descriptors, socket, &raw const tx) };
            self.check("rte_eth_tx_queue_setup", result, format!("set up TX queue {queue}"))?;
        }
        Ok(())
    }

    /// Starts the device; the numbers of its RX and TX queues.
    pub(super) fn start(&self) -> Result<(u16, u16), PortError> {
        let control = self.control()?;
        let mut setup = self.setup();
        // SAFETY: only a `Port<Configured>` is started, so all queues are set up; the control plane is locked.
        let mut result = unsafe { sys::rte_eth_dev_start(self.id) };
        setup.left = result < 0 && self.parts(&control).any(|(_, info)| driver::frees_twice(&info));
        // SAFETY: the port exists, and the control plane is locked.
        if result == 0 && !unsafe { queue::has_calls(self.id()) } {
            // SAFETY: the port has just been started, and nobody has its queues yet; the control plane is locked.
            unsafe { sys::rte_eth_dev_stop(self.id) };
            result = -sys::ENOTSUP.cast_signed();
        }
        self.check("rte_eth_dev_start", result, "start the port")?;
        setup.started = true;
        Ok((setup.rx_queues, setup.tx_queues))
    }

    /// Stops the device. The caller has taken back all queues.
    pub(super) fn stop(&self) -> Result<(), PortError> {
        let _control = self.control()?;
        let mut setup = self.setup();
        // SAFETY: `Port::stop` has taken back and dropped all queues, so nobody polls the port; the control plane is
        // locked.
        let result = unsafe { sys::rte_eth_dev_stop(self.id) };
        self.check("rte_eth_dev_stop", result, "stop the port")?;
        setup.started = false;
        Ok(())
    }

    pub(super) fn queue_counts(&self) -> (usize, usize) {
        let setup = self.setup();
        (usize::from(setup.rx_queues), usize::from(setup.tx_queues))
    }

    pub(super) fn mac_addr(&self) -> Result<MacAddr, PortError> {
        let mut addr = sys::rte_ether_addr::default();
        // SAFETY: the port exists until the drop of this `Device` closes it; the call fills a struct of ours.
        let result = unsafe { sys::rte_eth_macaddr_get(self.id, &raw mut addr) };
        self.check("rte_eth_macaddr_get", result, "read the MAC address")?;
        Ok(MacAddr(addr.addr_bytes))
    }

    pub(super) fn mtu(&self) -> Result<u16, PortError> {
        let mut mtu = 0;
        // SAFETY: the port exists until the drop of this `Device` closes it; the call writes to a number of ours.
        let result = unsafe { sys::rte_eth_dev_get_mtu(self.id, &raw mut mtu) };
        self.check("rte_eth_dev_get_mtu", result, "read the MTU")?;
        Ok(mtu)
    }

    pub(super) fn set_mtu(&self, mtu: u16) -> Result<(), PortError> {
        let _control = self.control()?;
        // SAFETY: only a `Port<Configured>` comes here, which is not started; the control plane is locked.
        let result = unsafe { sys::rte_eth_dev_set_mtu(self.id, mtu) };
        self.check("rte_eth_dev_set_mtu", result, format!("set MTU {mtu}"))
    }

    pub(super) fn stats(&self) -> Result<PortStats, PortError> {
        let mut stats = sys::rte_eth_stats::default();
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked; the call
        // fills a struct of ours.
        let result = unsafe { sys::rte_eth_stats_get(self.id, &raw mut stats) };
        self.check("rte_eth_stats_get", result, "read the statistics")?;
        Ok(stats.into())
    }

    pub(super) fn reset_stats(&self) -> Result<(), PortError> {
        let _control = self.control()?;
        // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked.
        let result = unsafe { sys::rte_eth_stats_reset(self.id) };
        self.check("rte_eth_stats_reset", result, "reset the statistics")
    }

    pub(super) fn link(&self, wait: bool) -> Result<Link, PortError> {
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

    pub(super) fn set_promiscuous(&self, on: bool) -> Result<(), PortError> {
        let _control = self.control()?;
        if on {
            // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked.
            let result = unsafe { sys::rte_eth_promiscuous_enable(self.id) };
            self.check("rte_eth_promiscuous_enable", result, "enable promiscuous mode")
        } else {
            // SAFETY: the port exists until the drop of this `Device` closes it, and the control plane is locked.
            let result = unsafe { sys::rte_eth_promiscuous_disable(self.id) };
            self.check("rte_eth_promiscuous_disable", result, "disable promiscuous mode")
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if self.environment.is_forked() {
            return;
        }
        let setup = self.setup.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut control = self.environment.control();
        if !setup.configured {
            if let Some(taken) = control.taken.get_mut(usize::from(self.id)) {
                *taken = false;
            }
            return;
        }
        if setup.left {
            // Nobody else gets it either.
            control.left.push(self.name.clone());
            return;
        }
        if setup.started {
            // SAFETY: the port and its queues hold this `Device`, so they are gone and nobody polls; the control plane
            // is locked. Nothing is left to report an error to.
            unsafe { sys::rte_eth_dev_stop(self.id) };
        }
        // SAFETY: the port and its queues hold this `Device`, so they are gone; the control plane is locked, and the
        // pool is released after this.
        unsafe { sys::rte_eth_dev_close(self.id) };
        // A device that is attached later may get the same number.
        if let Some(taken) = control.taken.get_mut(usize::from(self.id)) {
            *taken = false;
        }
        drop(control);
    }
}
