// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Devices that combine others: who owns the parts, and what their drivers do.
//!
//! `net_failsafe` and `net_netvsc` mark their parts as theirs in DPDK's list of ports as soon as they have any.
//! `net_bonding` takes the ports that its arguments name, and marks them, only when it is configured. It stops these
//! ports and polls their queues without checking for other users.

use super::Device;
use crate::{
    environment::{
        ControlGuard, driver,
        ports::{self, info, is_owned},
    },
    port::PortError,
};
use core::iter;
use dpdk_sys as sys;

impl Device {
    /// The number of this device, with DPDK's information about it. Since it may combine others, also those of the
    /// devices that another one owns, and of those that it will take.
    pub(super) fn parts<'a>(
        &self,
        control: &'a ControlGuard<'_>,
    ) -> impl Iterator<Item = (u16, sys::rte_eth_dev_info)> + 'a {
        let own = self.id;
        let members = info(own).map_or_else(Vec::new, |info| driver::members(&info));
        let is_part = move |id: u16| id == own || is_owned(id, control) || is_named(&members, id);
        ports::all().filter(move |id| is_part(*id)).filter_map(|id| Some((id, info(id)?)))
    }

    /// The name of this device's driver, and those of its parts' drivers if it combines others.
    pub(super) fn drivers(&self, own: &str, control: &ControlGuard<'_>) -> Vec<(String, sys::rte_eth_dev_info)> {
        let parts = self.parts(control).filter(|(id, _)| *id == self.id || driver::combines(own));
        parts.map(|(_, info)| (driver::name(&info), info)).collect()
    }

    /// Whether the device must not be closed after it has failed to set up a queue or to start.
    pub(super) fn frees_twice(&self, control: &ControlGuard<'_>) -> bool {
        self.parts(control).any(|(_, info)| driver::frees_twice(&info))
    }

    /// Rejects a device that another one has taken, and one that would take an already configured port.
    pub(super) fn check_sole_owner(&self, control: &ControlGuard<'_>) -> Result<(), PortError> {
        let Some(own) = info(self.id) else { return Ok(()) };
        let refusal = |what, id: u16, limits: &str| Err(self.unsupported(what, u32::from(id), limits.to_owned()));
        if driver::is_member(&own) {
            return refusal("port number of a part of net_bonding", self.id, "ports without another owner");
        }
        let members = driver::members(&own);
        let configured = |id: &u16| control.configured.get(usize::from(*id)).copied().unwrap_or(false);
        match ports::all().filter(|id| *id != self.id).filter(configured).find(|id| is_named(&members, *id)) {
            Some(id) => refusal("port number of a part", id, "ports that are not configured"),
            None => Ok(()),
        }
    }
}

/// Whether a device's arguments name a port.
fn is_named(members: &[String], id: u16) -> bool {
    let device = ports::device_name(id);
    let names = || iter::once(ports::port_name(id)).chain(device.clone());
    members.iter().any(|member| driver::is_called(member, id, names()))
}
