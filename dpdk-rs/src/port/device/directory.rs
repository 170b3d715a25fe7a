// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The devices that there are, by number and by name.

use super::{Device, combined::is_owned};
use crate::{
    control::ControlGuard,
    eal::Environment,
    port::{driver, iommu},
};
use core::{
    ffi::{CStr, c_char},
    iter,
};
use dpdk_sys as sys;
use std::{
    path::Path,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32},
    },
};

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

/// The numbers of all ports, those included that belong to other devices.
pub(super) fn all() -> impl Iterator<Item = u16> {
    let mut next = 0;
    iter::from_fn(move || {
        // SAFETY: the EAL is initialised and its control plane locked, which all callers of `all` see to; any number is allowed.
        let id = unsafe { sys::rte_eth_find_next(next) };
        next = id.saturating_add(1);
        (u32::from(id) < sys::RTE_MAX_ETHPORTS).then_some(id)
    })
}

/// Takes every free port.
pub(in crate::port) fn take_all(environment: &Arc<Environment>) -> Vec<Device> {
    if environment.is_forked() {
        return Vec::new();
    }
    let mut control = environment.control();
    let mut devices = Vec::new();
    for id in ids().collect::<Vec<_>>() {
        if is_owned(id, &control) {
            continue;
        }
        let Some(taken) = control.taken.get_mut(usize::from(id)).filter(|taken| !**taken) else { continue };
        *taken = true;
        let name = port_name(id);
        devices.push(Device {
            id,
            name,
            environment: Arc::clone(environment),
            counts_blindly: AtomicBool::new(false),
            resets: AtomicU32::new(0),
            setup: Mutex::default(),
        });
    }
    devices
}

/// The names of all ports, whether or not somebody has taken them.
pub(in crate::port) fn names(environment: &Environment) -> Vec<String> {
    if environment.is_forked() {
        return Vec::new();
    }
    let _control = environment.control();
    ids().map(port_name).collect()
}

/// The ports of a device, by the device's name.
fn ports_of<'a>(device: &'a str, _control: &ControlGuard<'_>) -> impl Iterator<Item = u16> + 'a {
    all().filter(move |id| device_name(*id).is_some_and(|name| name == device))
}

/// Whether there is a port of a device, by the device's name.
pub(crate) fn has_port(device: &str, control: &ControlGuard<'_>) -> bool {
    ports_of(device, control).next().is_some()
}

/// A port of a device, by the device's name, that somebody has taken or that belongs to another device.
pub(crate) fn in_use_of(device: &str, control: &ControlGuard<'_>) -> Option<String> {
    let mut ports = ports_of(device, control);
    let used = ports.find(|id| is_owned(*id, control) || control.taken.get(usize::from(*id)).copied().unwrap_or(true));
    used.map(port_name)
}

/// The name of a port's device: that of the port, if the device has one only.
pub(super) fn device_name(id: u16) -> Option<String> {
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

/// A port that cannot send what lies outside DPDK's memory: its name and that of its driver.
pub(crate) fn reads_only_dpdk_memory(_control: &ControlGuard<'_>) -> Option<String> {
    all().find_map(|id| {
        let mut info = sys::rte_eth_dev_info::default();
        // SAFETY: `all` has just named the port, and the control plane is locked; the call fills a struct of ours.
        let known = unsafe { sys::rte_eth_dev_info_get(id, &raw mut info) } >= 0;
        let reads = known && driver::reads_by_processor(&info);
        (!reads).then(|| format!("{} ({})", port_name(id), driver::name(&info)))
    })
}

/// Whether one of the ports is a NIC on VFIO, which reaches memory of the program that the IOMMU is told of; the name of a port that
/// does not reach it in any way, with that of its driver.
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

/// Closes the ports that nobody has configured, before the EAL is cleaned up: its clean-up of the bus stumbles over a
/// device that takes others with it (`net_failsafe`, DPDK 22.11).
pub(crate) fn close_rest(_control: &ControlGuard<'_>) {
    for id in ids() {
        // SAFETY: the port exists, and no `Device` is left that could use it.
        unsafe { sys::rte_eth_dev_close(id) };
    }
}

pub(super) fn port_name(id: u16) -> String {
    let mut name: [c_char; sys::RTE_ETH_NAME_MAX_LEN as usize] = [0; _];
    // SAFETY: the array has RTE_ETH_NAME_MAX_LEN bytes, which is what the call may write.
    if unsafe { sys::rte_eth_dev_get_name_by_port(id, name.as_mut_ptr()) } != 0 {
        return format!("port {id}");
    }
    // SAFETY: the call succeeded, so it wrote a string that ends within the array.
    unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned()
}
