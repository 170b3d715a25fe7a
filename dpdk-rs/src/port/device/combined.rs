// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Devices that combine others: who owns the parts, and what their drivers do.
//!
//! `net_failsafe` and `net_netvsc` mark their parts as theirs in DPDK's list of ports as soon as they have any.
//! `net_bonding` takes the ports that its arguments name, and marks them, only when it is configured. It stops these
//! ports and polls their queues without checking for other users. What the arguments say is checked before, so that
//! nothing is changed; what the driver has made of them is checked again after.

use super::Device;
use crate::{
    environment::{
        Bonding, ControlGuard, DeviceInfo, driver,
        ports::{self, info, is_owned},
        reservation::Fence,
    },
    port::PortError,
};
use core::iter;
use dpdk_sys as sys;

impl Device {
    /// The number of this device, with DPDK's information about it. Since it may combine others, also those of the
    /// devices that another one owns, and of those that it will take.
    pub(super) fn parts<'a>(&self, control: &'a ControlGuard<'_>) -> impl Iterator<Item = (u16, DeviceInfo<'a>)> + 'a {
        let own = self.id;
        let members = info(own, control).map_or_else(Vec::new, |info| driver::members(&info));
        let is_part = move |id: u16| id == own || is_owned(id, control) || is_named(&members, id, control);
        ports::all(control).filter(move |id| is_part(*id)).filter_map(|id| Some((id, info(id, control)?)))
    }

    /// The name of this device's driver, and those of its parts' drivers if it combines others.
    pub(super) fn drivers<'a>(&self, own: &str, control: &'a ControlGuard<'_>) -> Vec<(String, DeviceInfo<'a>)> {
        let parts = self.parts(control).filter(|(id, _)| *id == self.id || driver::combines(own));
        parts.map(|(_, info)| (driver::name(&info), info)).collect()
    }

    /// Whether the device must not be closed after it has failed to set up a queue or to start.
    pub(super) fn frees_twice(&self, control: &ControlGuard<'_>) -> bool {
        self.parts(control).any(|(_, info)| driver::frees_twice(&info))
    }

    /// Calls `rte_eth_dev_configure`, in which `net_bonding` takes only ports that nobody has configured.
    pub(super) fn configure_raw(
        &self,
        control: &ControlGuard<'_>,
        (rx_queues, tx_queues): (u16, u16),
        conf: &sys::rte_eth_conf,
    ) -> i32 {
        let _fence = Fence::new(control, |id| id != self.id && !control.is_configured(id) && !is_owned(id, control));
        // SAFETY: the port exists until the drop of this `Device` closes it, is not started, since it is still being
        // configured, and the control plane is locked; the call copies `conf`.
        unsafe { sys::rte_eth_dev_configure(self.id, rx_queues, tx_queues, conf) }
    }

    /// Rejects a device that another one has taken, and one that would take an already configured port.
    pub(super) fn check_sole_owner(&self, control: &ControlGuard<'_>) -> Result<(), PortError> {
        let Some(own) = info(self.id, control) else { return Ok(()) };
        let refusal = |what, id: u16, limits: &str| Err(self.unsupported(what, u32::from(id), limits.to_owned()));
        if is_owned(self.id, control) {
            return refusal("port number of a part of net_bonding", self.id, "ports without another owner");
        }
        let members = driver::members(&own);
        let mut others = ports::all(control).filter(|id| *id != self.id && control.is_configured(*id));
        match others.find(|id| is_named(&members, *id, control)) {
            Some(id) => refusal("port number of a part", id, "ports that are not configured"),
            None => Ok(()),
        }
    }

    /// Rejects a device whose parts are not known, or combine devices themselves.
    pub(super) fn check_parts(&self, own: &str, control: &ControlGuard<'_>) -> Result<(), PortError> {
        if !driver::combines(own) {
            return Ok(());
        }
        if let Some((part, info)) =
            self.parts(control).find(|(id, info)| *id != self.id && driver::combines(&driver::name(info)))
        {
            let (part, driver) = (ports::port_name(part), driver::name(&info));
            return Err(
                self.lacks(format!("safe use: its part {part} combines devices itself (its driver is {driver})"))
            );
        }
        if ports::lacks_parts(control) {
            return Err(self.lacks(
                "all its parts: a device of net_failsafe has none that a command or a file names (exec, fd), or that does not \
                 exist yet, since their drivers are unknown before",
            ));
        }
        Ok(())
    }

    /// Rejects a device of `net_bonding` that has not taken a port: those that its arguments name have other users.
    pub(super) fn check_members(&self, control: &ControlGuard<'_>) -> Result<(), PortError> {
        let bonding = info(self.id, control);
        let bonding = bonding.and_then(|info| Bonding::of(&info));
        match bonding {
            Some(bonding) if bonding.members.is_empty() => {
                Err(self
                    .lacks("members: the ports that its arguments name are configured, or belong to another device"))
            }
            _ => Ok(()),
        }
    }
}

/// Whether a device's arguments name a port.
fn is_named(members: &[String], id: u16, control: &ControlGuard<'_>) -> bool {
    let device = ports::device_name(id, control);
    let names = || iter::once(ports::port_name(id)).chain(device.clone());
    members.iter().any(|member| driver::is_called(member, id, names()))
}
