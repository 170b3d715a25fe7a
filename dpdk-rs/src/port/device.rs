// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A device as the port and its queues share it: the calls of DPDK's control plane, and the end.

use super::{
    Direction, Link, PortConfig, PortError, PortId, PortInfo, PortStats, RssFields, RxOffloads, TxOffloads, driver,
    info::offload_names, single_queue,
};
use crate::{
    Errno, MacAddr,
    eal::{Control, Environment},
    flow::Flows,
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
    /// The driver can start it again once it was stopped.
    restarts: bool,
    /// It was stopped by a driver that cannot.
    stopped_for_good: bool,
    /// The most segments of a frame that the driver sends right, as it is configured.
    most_segments: u16,
    /// The driver sends only segments right that have room in the mbufs of the first one's pool.
    trusts_lengths: bool,
    /// The driver loses parts of some received frames.
    miscounts: bool,
    /// What the device can be asked to do with frames that it sends.
    tx_offloads: TxOffloads,
    /// The longest headers of a frame that it can be asked to cut, in bytes.
    most_headers: usize,
    /// A call failed after which the driver cannot close the device.
    left: bool,
    /// Another process has configured the device, and closes it.
    foreign: bool,
    rx_queues: u16,
    tx_queues: u16,
    /// Of these, those that have to come back before the device is stopped.
    queues_out: (u16, u16),
    /// The queues of the device wait to be started when it is.
    deferred_start: bool,
    /// The device tells when its link changes.
    link_interrupts: bool,
    /// It was asked to tell when frames have come.
    rx_interrupts: bool,
    /// The rules for received frames, while it is started.
    flows: Flows,
    /// Drivers may read the key whenever the device is started.
    rss_key: Option<Box<[u8]>>,
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

/// The ports of a device, by the device's name.
fn ports_of<'a>(device: &'a str, _control: &MutexGuard<'_, Control>) -> impl Iterator<Item = u16> + 'a {
    let mut next = 0;
    let all = iter::from_fn(move || {
        // SAFETY: the EAL is initialised and the control plane locked; any number is allowed.
        let id = unsafe { sys::rte_eth_find_next(next) };
        next = id.saturating_add(1);
        (u32::from(id) < sys::RTE_MAX_ETHPORTS).then_some(id)
    });
    all.filter(move |id| device_name(*id).is_some_and(|name| name == device))
}

/// Whether there is a port of a device, by the device's name.
pub(crate) fn has_port(device: &str, control: &MutexGuard<'_, Control>) -> bool {
    ports_of(device, control).next().is_some()
}

/// A port of a device, by the device's name, that somebody has taken or that belongs to another device.
pub(crate) fn in_use_of(device: &str, control: &MutexGuard<'_, Control>) -> Option<String> {
    let mut ports = ports_of(device, control);
    let used = ports.find(|id| {
        // SAFETY: the EAL is initialised and the control plane locked.
        let is_free = unsafe { sys::dpdk_sys_eth_find_next(*id) } == u64::from(*id);
        !is_free || control.taken.get(usize::from(*id)).copied().unwrap_or(true)
    });
    used.map(port_name)
}

/// The name of a port's device: that of the port, if the device has one only.
fn device_name(id: u16) -> Option<String> {
    let mut info = sys::rte_eth_dev_info::default();
    // SAFETY: the caller has the number from DPDK, and the control plane locked; the call fills a struct of ours.
    let result = unsafe { sys::rte_eth_dev_info_get(id, &raw mut info) };
    if result < 0 || info.device.is_null() {
        return None;
    }
    // SAFETY: the device of a port lives as long as the port, which is there while the control plane is locked.
    let name = unsafe { sys::rte_dev_name(info.device) };
    // SAFETY: a device's name is a string that lives as long as the device.
    Some(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
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

    pub(crate) fn is_forked(&self) -> bool {
        self.environment.is_forked()
    }

    /// Locks the control plane, unless it is that of a parent process.
    pub(crate) fn control(&self) -> Result<MutexGuard<'_, Control>, PortError> {
        if self.environment.is_forked() {
            return Err(PortError::Forked { port: self.id(), name: self.name.clone() });
        }
        Ok(self.environment.control())
    }

    /// The result of a call of DPDK, or an error that names the port and the action.
    pub(crate) fn check(&self, call: &'static str, result: i32, action: impl Into<String>) -> Result<(), PortError> {
        Errno::check(result).map(|_| ()).map_err(|errno| PortError::Refused {
            port: self.id(),
            name: self.name.clone(),
            action: action.into(),
            call,
            errno,
        })
    }

    /// The error that something is outside what the device supports.
    pub(crate) fn unsupported(&self, what: &'static str, asked: u32, limits: String) -> PortError {
        PortError::Unsupported { port: self.id(), name: self.name.clone(), what, asked, limits }
    }

    /// The error that the device does not have something.
    pub(crate) fn lacks(&self, what: impl Into<String>) -> PortError {
        PortError::Lacks { port: self.id(), name: self.name.clone(), what: what.into() }
    }

    /// Whether the device tells when its link changes.
    pub(super) fn has_link_interrupts(&self) -> bool {
        self.setup().link_interrupts
    }

    /// Whether the device was asked to tell when frames have come.
    pub(crate) fn has_rx_interrupts(&self) -> bool {
        self.setup().rx_interrupts
    }

    /// Does something with the rules of the started device.
    pub(crate) fn with_flows<T>(&self, run: impl FnOnce(&mut Flows) -> T) -> T {
        run(&mut self.setup().flows)
    }

    /// The most segments of a frame that can be sent.
    pub(crate) fn most_segments(&self) -> u16 {
        self.setup().most_segments
    }

    /// Whether no segment may be longer than the room for data in the mbufs of the first one's pool.
    pub(crate) fn trusts_lengths(&self) -> bool {
        self.setup().trusts_lengths
    }

    /// What the device can be asked to do with frames that it sends.
    pub(crate) fn tx_offloads(&self) -> TxOffloads {
        self.setup().tx_offloads
    }

    /// The longest headers of a frame that it can be asked to cut into segments, in bytes.
    pub(crate) fn most_headers(&self) -> usize {
        self.setup().most_headers
    }

    /// Whether received frames may be shorter than they say.
    pub(crate) fn miscounts(&self) -> bool {
        self.setup().miscounts
    }

    /// Whether another process has configured the device.
    pub(super) fn is_foreign(&self) -> bool {
        self.setup().foreign
    }

    /// Takes note of what the driver of a device does that another process has configured; of chains it does the least.
    pub(super) fn adopt(&self) -> Result<(), PortError> {
        let info = self.raw_info()?;
        let driver = driver::name(&info);
        *self.setup() = Setup {
            most_segments: driver::most_segments(&driver, &info, 0),
            trusts_lengths: driver::trusts_lengths(&driver),
            miscounts: driver::miscounts(&driver),
            foreign: true,
            rx_queues: info.nb_rx_queues,
            tx_queues: info.nb_tx_queues,
            ..Setup::default()
        };
        Ok(())
    }

    /// How many RX and TX queues the device has.
    pub(super) fn configured_queues(&self) -> (u16, u16) {
        let setup = self.setup();
        (setup.rx_queues, setup.tx_queues)
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
            Some((what, asked, limits)) => Err(self.unsupported(what, asked, limits)),
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
        let driver = driver::name(&info);
        let mut conf = sys::rte_eth_conf::default();
        // SAFETY: the call reads and changes two structs of ours and keeps no pointer to them.
        let link_interrupts = unsafe { sys::dpdk_sys_eth_conf_lsc(&raw mut conf, &raw const info) } != 0;
        let strips = info.rx_offload_capa & sys::DPDK_SYS_RX_OFFLOAD_VLAN_STRIP != 0;
        Ok(PortInfo {
            vlan_strip: strips && !driver::strips_blindly(&driver),
            restarts: driver::restarts(&driver),
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
            offers_rx: RxOffloads::from_bits(info.rx_offload_capa),
            offers_tx: TxOffloads::from_bits(info.tx_offload_capa),
            rx_offloads: offload_names(info.rx_offload_capa, sys::rte_eth_dev_rx_offload_name),
            tx_offloads: offload_names(info.tx_offload_capa, sys::rte_eth_dev_tx_offload_name),
        })
    }

    pub(super) fn configure(&self, config: &PortConfig, pool: &Arc<PoolHandle>) -> Result<(), PortError> {
        let info = self.raw_info()?;
        let mut conf = sys::rte_eth_conf::default();
        if config.scatter {
            conf.rxmode.offloads = sys::DPDK_SYS_RX_OFFLOAD_SCATTER & info.rx_offload_capa;
            conf.txmode.offloads = sys::DPDK_SYS_TX_OFFLOAD_MULTI_SEGS & info.tx_offload_capa;
        }
        for (wanted, offload) in [
            (config.vlan_filter, sys::DPDK_SYS_RX_OFFLOAD_VLAN_FILTER),
            (config.vlan_strip, sys::DPDK_SYS_RX_OFFLOAD_VLAN_STRIP),
        ] {
            conf.rxmode.offloads |= if wanted { offload } else { 0 };
        }
        conf.rxmode.offloads |= config.rx_offloads.bits();
        conf.txmode.offloads |= config.tx_offloads.bits();
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
            link_interrupts = unsafe { sys::dpdk_sys_eth_conf_lsc(&raw mut conf, &raw const info) } != 0;
        }
        if config.rx_interrupts {
            // SAFETY: the call changes a struct of ours and keeps no pointer to it.
            unsafe { sys::dpdk_sys_eth_conf_rxq(&raw mut conf) };
        }
        let control = self.control()?;
        let mut setup = self.setup();
        // Before the call, which keeps the key's address.
        setup.rss_key = config.rss_key.clone().map(Vec::into_boxed_slice);
        if let Some(key) = &mut setup.rss_key {
            // SAFETY: the call changes a struct of ours; the key in it, whose length was checked, lives until the device is
            // closed.
            unsafe { sys::dpdk_sys_eth_conf_rss_key(&raw mut conf, key.as_mut_ptr(), info.hash_key_size) };
        }
        // SAFETY: the port exists until the drop of this `Device` closes it, is not started, since it is still being
        // configured, and the control plane is locked; the call copies `conf`.
        let result =
            unsafe { sys::rte_eth_dev_configure(self.id, config.rx_queues, config.tx_queues, &raw const conf) };
        *setup = Setup {
            configured: true,
            started: false,
            restarts: driver::restarts(&driver),
            stopped_for_good: false,
            most_segments: driver::most_segments(&driver, &info, conf.txmode.offloads),
            trusts_lengths: driver::trusts_lengths(&driver),
            miscounts: driver::miscounts(&driver),
            tx_offloads: config.tx_offloads,
            most_headers: driver::most_headers(&driver),
            left: false,
            foreign: false,
            rx_queues: config.rx_queues,
            tx_queues: config.tx_queues,
            queues_out: (0, 0),
            deferred_start: config.deferred_start,
            link_interrupts,
            rx_interrupts: config.rx_interrupts,
            flows: Flows::default(),
            rss_key: setup.rss_key.take(),
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
            rx.rx_deferred_start = u8::from(config.deferred_start);
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
            self.check_deferred(config, result)?;
            self.check("rte_eth_rx_queue_setup", result, format!("set up RX queue {queue}"))?;
        }
        for queue in 0..config.tx_queues {
            let mut tx = info.default_txconf;
            tx.offloads = conf.txmode.offloads;
            tx.tx_deferred_start = u8::from(config.deferred_start);
            // SAFETY: the port was configured with this queue a few lines before and is not started; the call copies
            // `tx`.
            let result =
                unsafe { sys::rte_eth_tx_queue_setup(self.id, queue, config.tx_descriptors, socket, &raw const tx) };
            self.check_deferred(config, result)?;
            self.check("rte_eth_tx_queue_setup", result, format!("set up TX queue {queue}"))?;
        }
        if config.deferred_start {
            // They are stopped, of course; but with older releases only these calls tell whether the driver has them.
            self.switch_all((config.rx_queues, config.tx_queues), false)?;
        }
        Ok(())
    }

    /// Newer releases look whether the driver can start a queue that it is told not to start.
    fn check_deferred(&self, config: &PortConfig, result: i32) -> Result<(), PortError> {
        let lacks = config.deferred_start && result == -sys::ENOTSUP.cast_signed();
        if lacks { Err(self.lacks(single_queue::LACKING)) } else { Ok(()) }
    }

    /// Starts the device, with its queues running or stopped; the numbers of its RX and TX queues.
    pub(super) fn start(&self, running: bool) -> Result<(u16, u16), PortError> {
        let control = self.control()?;
        let mut setup = self.setup();
        if setup.stopped_for_good {
            return Err(self.lacks("second start: its driver closes what it receives from when it is stopped"));
        }
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
        let queues = (setup.rx_queues, setup.tx_queues);
        if !running || setup.deferred_start {
            self.switch_all(queues, running).inspect_err(|_| {
                // SAFETY: the port has just been started, and nobody has its queues yet; the control plane is locked.
                unsafe { sys::rte_eth_dev_stop(self.id) };
            })?;
        }
        setup.started = true;
        setup.queues_out = queues;
        Ok(queues)
    }

    /// Stops the device. The caller has taken back all queues.
    pub(super) fn stop(&self) -> Result<(), PortError> {
        let _control = self.control()?;
        let mut setup = self.setup();
        setup.flows.destroy_all(self.id());
        // SAFETY: `Port::stop` has taken back and dropped all queues, so nobody polls the port; the control plane is
        // locked.
        let result = unsafe { sys::rte_eth_dev_stop(self.id) };
        self.check("rte_eth_dev_stop", result, "stop the port")?;
        setup.started = false;
        setup.stopped_for_good = !setup.restarts;
        Ok(())
    }

    /// How many queues have to come back before the device is stopped.
    pub(crate) fn queue_counts(&self) -> (usize, usize) {
        let (rx, tx) = self.setup().queues_out;
        (usize::from(rx), usize::from(tx))
    }

    /// A queue is given up by its only owner until the device is started again.
    pub(crate) fn take_back_queue(&self, direction: Direction) {
        let (rx, tx) = &mut self.setup().queues_out;
        let count = if direction == Direction::Rx { rx } else { tx };
        *count = count.saturating_sub(1);
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
        setup.flows.destroy_all(PortId(self.id));
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
