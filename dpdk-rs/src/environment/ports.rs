// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The existing ports, by number and by name.

use super::{ControlGuard, Environment, driver, iommu};
use core::{
    ffi::{CStr, c_char},
    iter,
};
use dpdk_sys as sys;
use std::{path::Path, sync::atomic::Ordering};

/// The numbers of all free-standing ports, in ascending order. Each is determined at the moment when the iterator
/// reaches it.
fn ids() -> impl Iterator<Item = u16> {
    let mut next = 0;
    iter::from_fn(move || {
        // SAFETY: the EAL is initialised and its control plane is locked, as all callers of `ids` ensure.
        let found = unsafe { sys::dpdk_sys_eth_find_next(next) };
        let id = u16::try_from(found).ok().filter(|id| u32::from(*id) < sys::RTE_MAX_ETHPORTS)?;
        next = id + 1;
        Some(id)
    })
}

/// The numbers of all ports, including those that belong to other devices.
pub(crate) fn all() -> impl Iterator<Item = u16> {
    let mut next = 0;
    iter::from_fn(move || {
        // SAFETY: the EAL is initialised and its control plane is locked, as all callers of `all` ensure; any number is
        // allowed.
        let id = unsafe { sys::rte_eth_find_next(next) };
        next = id.saturating_add(1);
        (u32::from(id) < sys::RTE_MAX_ETHPORTS).then_some(id)
    })
}

/// Takes the ports that nobody has taken and that belong to no other device. Returns their numbers.
pub(crate) fn take_free(environment: &Environment) -> Vec<u16> {
    if environment.is_forked() {
        return Vec::new();
    }
    let mut control = environment.control();
    let mut free = Vec::new();
    for id in ids().collect::<Vec<_>>() {
        if is_owned(id, &control) {
            continue;
        }
        let Some(taken) = control.taken.get_mut(usize::from(id)).filter(|taken| !**taken) else { continue };
        *taken = true;
        free.push(id);
    }
    free
}

/// The names of all ports, whether or not somebody has taken them.
pub(crate) fn names(environment: &Environment) -> Vec<String> {
    if environment.is_forked() {
        return Vec::new();
    }
    let _control = environment.control();
    ids().map(port_name).collect()
}

/// DPDK's information about a port, if available.
pub(crate) fn info(id: u16) -> Option<sys::rte_eth_dev_info> {
    let mut info = sys::rte_eth_dev_info::default();
    // SAFETY: the callers have the number from DPDK, and the control plane locked; the call fills a struct of ours.
    let result = unsafe { sys::rte_eth_dev_info_get(id, &raw mut info) };
    (result >= 0).then_some(info)
}

/// Whether a port belongs to another device.
pub(crate) fn is_owned(id: u16, _control: &ControlGuard<'_>) -> bool {
    // SAFETY: the EAL is initialised and the control plane locked.
    let is_free = unsafe { sys::dpdk_sys_eth_find_next(id) } == u64::from(id);
    !is_free || info(id).is_some_and(|info| driver::is_member(&info))
}

/// The ports of a device, by the device's name.
fn ports_of<'a>(device: &'a str, _control: &ControlGuard<'_>) -> impl Iterator<Item = u16> + 'a {
    all().filter(move |id| device_name(*id).is_some_and(|name| name == device))
}

/// Whether a device has a port, by the device's name.
pub(crate) fn has_port(device: &str, control: &ControlGuard<'_>) -> bool {
    ports_of(device, control).next().is_some()
}

/// A port of a device, by the device's name, that somebody has taken or that belongs to another device.
pub(crate) fn in_use_of(device: &str, control: &ControlGuard<'_>) -> Option<String> {
    let mut ports = ports_of(device, control);
    let used = ports.find(|id| is_owned(*id, control) || control.taken.get(usize::from(*id)).copied().unwrap_or(true));
    used.map(port_name)
}

/// The name of a port's device, which is the port's name if the device has only one port.
pub(crate) fn device_name(id: u16) -> Option<String> {
    let mut info = sys::rte_eth_dev_info::default();
    // SAFETY: the caller has the number from DPDK, and the control plane locked; the call fills a struct of ours.
    let result = unsafe { sys::rte_eth_dev_info_get(id, &raw mut info) };
    if result < 0 || info.device.is_null() {
        return None;
    }
    // SAFETY: the device of a port lives as long as the port, which exists while the control plane is locked.
    let name = unsafe { sys::rte_dev_name(info.device) };
    // SAFETY: a device's name is a string that lives as long as the device.
    Some(unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
}

impl Environment {
    /// A port that reads only DPDK's memory, if there is one. Other ports read through the processor.
    pub(crate) fn reads_only_dpdk_memory(&self) -> Option<String> {
        if self.read_by_processor.load(Ordering::Acquire) {
            return None;
        }
        let control = self.control();
        let found = reads_only_dpdk_memory(&control);
        self.read_by_processor.store(found.is_none(), Ordering::Release);
        found
    }
}

/// A port that cannot send data outside DPDK's memory: its name and that of its driver.
fn reads_only_dpdk_memory(_control: &ControlGuard<'_>) -> Option<String> {
    all().find_map(|id| {
        let mut info = sys::rte_eth_dev_info::default();
        // SAFETY: `all` has just named the port, and the control plane is locked; the call fills a struct of ours.
        let known = unsafe { sys::rte_eth_dev_info_get(id, &raw mut info) } >= 0;
        let reads = known && driver::reads_by_processor(&info);
        (!reads).then(|| format!("{} ({})", port_name(id), driver::name(&info)))
    })
}

/// Whether one of the ports is a NIC on VFIO, which can access memory of the program that is mapped in the IOMMU. The
/// error names a port that cannot access such memory, with its driver.
pub(crate) fn reaches_program_memory(_control: &ControlGuard<'_>) -> Result<bool, String> {
    let mut nic = false;
    for id in all() {
        let mut info = sys::rte_eth_dev_info::default();
        // SAFETY: `all` has just named the port, and the control plane is locked; the call fills a struct of ours.
        let known = unsafe { sys::rte_eth_dev_info_get(id, &raw mut info) } >= 0;
        if known && driver::reads_by_processor(&info) {
            continue;
        }
        if !device_name(id).is_some_and(|name| iommu::is_on_vfio(Path::new(iommu::SYS), &name)) {
            return Err(format!("{} ({})", port_name(id), driver::name(&info)));
        }
        nic = true;
    }
    Ok(nic)
}

/// Closes the ports that nobody has configured before the EAL is cleaned up: DPDK 22.11's clean-up of the bus fails for
/// a device that closes others with it (`net_failsafe`).
pub(crate) fn close_rest(_control: &ControlGuard<'_>) {
    for id in ids() {
        // SAFETY: the port exists, and no `Device` is left that could use it.
        unsafe { sys::rte_eth_dev_close(id) };
    }
}

pub(crate) fn port_name(id: u16) -> String {
    let mut name: [c_char; sys::RTE_ETH_NAME_MAX_LEN as usize] = [0; _];
    // SAFETY: the array has RTE_ETH_NAME_MAX_LEN bytes, which is what the call may write.
    if unsafe { sys::rte_eth_dev_get_name_by_port(id, name.as_mut_ptr()) } != 0 {
        return format!("port {id}");
    }
    // SAFETY: the call succeeded, so it wrote a string that ends within the array.
    unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned()
}
