// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The existing ports, by number and by name.

use super::{
    Control, ControlGuard, DeviceInfo, Environment, driver, iommu,
    owner::{Owner, owner},
};
use core::{
    ffi::{CStr, c_char},
    iter,
};
use dpdk_sys as sys;
use std::{collections::BTreeSet, path::Path, sync::atomic::Ordering};

/// The name of each device of `net_failsafe` as an owner.
const FAILSAFE_OWNER: &str = "Fail-safe";

/// The numbers of the ports that no other device owns, in ascending order. Each is determined at the moment when the
/// iterator reaches it.
fn ids(control: &Control) -> impl Iterator<Item = u16> + use<> {
    all(control).filter(|id| !matches!(owner(*id), Owner::Device(_)))
}

/// The numbers of all ports, including those that belong to other devices. The control plane has to stay locked.
pub(crate) fn all(_control: &Control) -> impl Iterator<Item = u16> + use<> {
    let mut next = 0;
    iter::from_fn(move || {
        // SAFETY: the EAL is initialised, since there is a `Control`; any number is allowed.
        let id = unsafe { sys::rte_eth_find_next(next) };
        next = id.saturating_add(1);
        (u32::from(id) < sys::RTE_MAX_ETHPORTS).then_some(id)
    })
}

/// The names of all ports, whether or not somebody has taken them.
pub(crate) fn names(environment: &Environment) -> Vec<String> {
    if environment.is_forked() {
        return Vec::new();
    }
    let control = environment.control();
    ids(&control).map(port_name).collect()
}

/// DPDK's information about a port, if available.
pub(crate) fn info(id: u16, _control: &Control) -> Option<DeviceInfo<'_>> {
    // SAFETY: a `Control` is reached only under its lock, under which alone devices are removed, and there is one only after
    // the EAL was initialised.
    unsafe { DeviceInfo::of(id) }.ok()
}

/// Whether a port belongs to another device, or could be removed with one that does.
pub(crate) fn is_owned(id: u16, control: &Control) -> bool {
    let own = info(id, control);
    let device = |other: &u16| info(*other, control).map(|info| info.device);
    let mut siblings = all(control).filter(|other| *other == id || device(other) == own.map(|own| own.device));
    own.is_some_and(|own| driver::is_member(&own)) || siblings.any(|id| matches!(owner(id), Owner::Device(_)))
}

/// Whether a device is one of `net_failsafe`, by the device's name.
pub(crate) fn is_failsafe(device: &str, control: &ControlGuard<'_>) -> bool {
    ports_of(device, control).filter_map(|id| info(id, control)).any(|info| driver::name(&info) == driver::FAILSAFE)
}

/// Whether a device of `net_failsafe` may have parts that it does not own yet: it looks for them again and again.
pub(crate) fn lacks_parts(control: &ControlGuard<'_>) -> bool {
    let failsafes =
        all(control).filter_map(|id| info(id, control)).filter(|info| driver::name(info) == driver::FAILSAFE);
    let most = failsafes.map(|info| driver::failsafe_parts(&info)).sum::<Option<usize>>();
    most.is_none_or(|most| most > failsafe_parts(control).len())
}

/// The names of the devices that devices of `net_failsafe` own.
pub(crate) fn failsafe_parts(control: &ControlGuard<'_>) -> BTreeSet<String> {
    let owned = all(control).filter(|id| owner(*id) == Owner::Device(FAILSAFE_OWNER.to_owned()));
    owned.filter_map(|id| device_name(id, control)).collect()
}

/// The ports of a device, by the device's name.
fn ports_of<'a>(device: &'a str, control: &'a Control) -> impl Iterator<Item = u16> + 'a {
    all(control).filter(move |id| device_name(*id, control).is_some_and(|name| name == device))
}

/// Whether a device has a port, by the device's name.
pub(crate) fn has_port(device: &str, control: &ControlGuard<'_>) -> bool {
    ports_of(device, control).next().is_some()
}

/// A port of a device, by the device's name, that somebody has taken or that belongs to another device.
pub(crate) fn in_use_of(device: &str, control: &ControlGuard<'_>) -> Option<String> {
    let mut ports = ports_of(device, control);
    let used = ports.find(|id| is_owned(*id, control) || control.is_taken(*id));
    used.map(port_name)
}

/// A port that its driver must not close: its name.
pub(crate) fn unclosable(control: &Control) -> Option<String> {
    all(control).find(|id| listens_when_closed(*id, control)).map(port_name)
}

/// A port that must not be closed, but would be if this device were removed. `net_failsafe` closes its parts.
pub(crate) fn unclosable_of(device: &str, control: &ControlGuard<'_>) -> Option<String> {
    let combines = is_failsafe(device, control);
    let is_of = |id: u16| combines && is_owned(id, control) || ports_of(device, control).any(|own| own == id);
    all(control).find(|id| listens_when_closed(*id, control) && is_of(*id)).map(port_name)
}

/// Why such a port must not be closed.
pub(crate) const LISTENS: &str = "its driver would listen for peers with memory that it has freed";

fn listens_when_closed(id: u16, control: &Control) -> bool {
    info(id, control).is_some_and(|info| driver::listens_when_closed(&info))
}

/// The name of a port's device, which is the port's name if the device has only one port.
pub(crate) fn device_name(id: u16, control: &Control) -> Option<String> {
    let info = info(id, control).filter(|info| !info.device.is_null())?;
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
fn reads_only_dpdk_memory(control: &ControlGuard<'_>) -> Option<String> {
    all(control).find_map(|id| {
        let info = info(id, control).unwrap_or_default();
        (!driver::reads_by_processor(&info)).then(|| format!("{} ({})", port_name(id), driver::name(&info)))
    })
}

/// Whether one of the ports is a NIC on VFIO, which can access memory of the program that is mapped in the IOMMU. The
/// error names a port that cannot access such memory, with its driver.
pub(crate) fn reaches_program_memory(control: &ControlGuard<'_>) -> Result<bool, String> {
    let mut nic = false;
    for id in all(control) {
        let info = info(id, control).unwrap_or_default();
        if driver::reads_by_processor(&info) {
            continue;
        }
        if !device_name(id, control).is_some_and(|name| iommu::is_on_vfio(Path::new(iommu::SYS), &name)) {
            return Err(format!("{} ({})", port_name(id), driver::name(&info)));
        }
        nic = true;
    }
    Ok(nic)
}

/// Closes the ports that nobody has configured before the EAL is cleaned up: DPDK 22.11's clean-up of the bus fails for
/// a device that closes others with it (`net_failsafe`).
///
/// # Safety
/// No `Device` is left.
pub(super) unsafe fn close_rest(control: &ControlGuard<'_>) {
    for id in ids(control) {
        // SAFETY: the port exists, and the caller promises that no `Device` is left that could use it.
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
