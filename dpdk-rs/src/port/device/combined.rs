// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Devices that combine others: who owns those, and what their drivers do.
//!
//! `net_failsafe` and `net_netvsc` say in DPDK's list of ports that others are theirs, as soon as there are any. `net_bonding` does
//! not: it takes those that its arguments name when it is configured, and then marks them. It stops them and polls their queues
//! without a look at who else does.

use super::{Device, directory};
use crate::{
    control::ControlGuard,
    port::{PortError, driver},
};
use core::iter;
use dpdk_sys as sys;

/// What DPDK says of a port, if it says anything.
fn info(id: u16) -> Option<sys::rte_eth_dev_info> {
    let mut info = sys::rte_eth_dev_info::default();
    // SAFETY: the callers have the number from DPDK, and the control plane locked; the call fills a struct of ours.
    let result = unsafe { sys::rte_eth_dev_info_get(id, &raw mut info) };
    (result >= 0).then_some(info)
}

/// Whether a port belongs to another device.
pub(super) fn is_owned(id: u16, _control: &ControlGuard<'_>) -> bool {
    // SAFETY: the EAL is initialised and the control plane locked.
    let is_free = unsafe { sys::dpdk_sys_eth_find_next(id) } == u64::from(id);
    !is_free || info(id).is_some_and(|info| driver::is_member(&info))
}

impl Device {
    /// The number of this device and what DPDK says of it; since it may be one that combines others, also of those that
    /// something in the process owns, and of those that it will take.
    pub(super) fn parts<'a>(
        &self,
        control: &'a ControlGuard<'_>,
    ) -> impl Iterator<Item = (u16, sys::rte_eth_dev_info)> + 'a {
        let own = self.id;
        let members = info(own).map_or_else(Vec::new, |info| driver::members(&info));
        let is_part = move |id: u16| id == own || is_owned(id, control) || is_named(&members, id);
        directory::all().filter(move |id| is_part(*id)).filter_map(|id| Some((id, info(id)?)))
    }

    /// The names of this device's driver, and of those of its parts if it combines others.
    pub(super) fn drivers(&self, own: &str, control: &ControlGuard<'_>) -> Vec<(String, sys::rte_eth_dev_info)> {
        let parts = self.parts(control).filter(|(id, _)| *id == self.id || driver::combines(own));
        parts.map(|(_, info)| (driver::name(&info), info)).collect()
    }

    /// Refuses a device that another one has taken, and one that would take what is configured already.
    pub(super) fn check_sole_owner(&self, control: &ControlGuard<'_>) -> Result<(), PortError> {
        let Some(own) = info(self.id) else { return Ok(()) };
        let refusal = |what, id: u16, limits: &str| Err(self.unsupported(what, u32::from(id), limits.to_owned()));
        if driver::is_member(&own) {
            return refusal(
                "as the number of a port that net_bonding combines with others",
                self.id,
                "those of nobody else",
            );
        }
        let members = driver::members(&own);
        let configured = |id: &u16| control.configured.get(usize::from(*id)).copied().unwrap_or(false);
        match directory::all().filter(|id| *id != self.id).filter(configured).find(|id| is_named(&members, *id)) {
            Some(id) => refusal("as the number of a port to combine with others", id, "ports that are not configured"),
            None => Ok(()),
        }
    }
}

/// Whether a port is among those that a device's arguments name.
fn is_named(members: &[String], id: u16) -> bool {
    let device = directory::device_name(id);
    let names = || iter::once(directory::port_name(id)).chain(device.clone());
    members.iter().any(|member| driver::is_called(member, id, names()))
}
