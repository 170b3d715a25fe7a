// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Ports that no other device may take.
//!
//! Drivers that combine devices take ports by themselves, each in its own way:
//!
//! | driver | takes ports | respects |
//! |---|---|---|
//! | `net_failsafe` | when its device is attached, and later on a thread of its own as long as a part is missing | owners |
//! | `net_netvsc` | on a thread of its own, by MAC address | owners |
//! | `net_bonding` | when its device is configured | flags of members ([`Fence`]); owners only of ports that it is given by name |
//!
//! Owners hide ports from `dpdk-dumpcap`, `dpdk-proc-info`, `/ethdev/list` and the latency statistics. So ports have an
//! owner only while a driver could take them: when a device is attached, and as long as there is a device whose driver
//! has a thread for this.

use super::{
    Control, ControlGuard, Environment,
    driver::{self, FAILSAFE, NETVSC},
    owner::{Owner, PROGRAM, owner},
    ports::{all, info, is_owned},
};
use crate::Errno;
use core::ops::Deref;
use dpdk_sys as sys;

/// The drivers that take ports on a thread of their own.
const SEEKERS: &[&str] = &[FAILSAFE, NETVSC];

/// All ports are reserved as long as this exists, except those that other devices have already.
pub(crate) struct Reservation<'c, 'e>(&'c mut ControlGuard<'e>);

impl<'c, 'e> Reservation<'c, 'e> {
    pub(crate) fn new(control: &'c mut ControlGuard<'e>) -> Result<Self, Errno> {
        reserve(control, |_| true)?;
        Ok(Self(control))
    }
}

impl<'e> Deref for Reservation<'_, 'e> {
    type Target = ControlGuard<'e>;

    fn deref(&self) -> &Self::Target {
        self.0
    }
}

impl Drop for Reservation<'_, '_> {
    fn drop(&mut self) {
        renew(self.0);
    }
}

/// Takes the ports that nobody has taken and that belong to no other device. Returns their numbers.
pub(crate) fn take_free(environment: &Environment) -> Vec<u16> {
    if environment.is_forked() {
        return Vec::new();
    }
    let mut control = environment.control();
    let known: Vec<u16> = all(&control).collect();
    if !environment.is_secondary() && !renew(&mut control) {
        return Vec::new();
    }
    let mut free = Vec::new();
    for id in known {
        if !is_owned(id, &control) && control.take(id) {
            free.push(id);
        }
    }
    free
}

/// Reserves the ports that a driver could take at any time, and no others. Returns false if there is no memory for that.
pub(crate) fn renew(control: &mut Control) -> bool {
    let drivers = || all(control).filter_map(|id| info(id, control)).map(|info| driver::name(&info));
    let seekers: Vec<String> = drivers().filter(|name| SEEKERS.contains(&name.as_str())).collect();
    // Devices of net_netvsc never take each other.
    reserve(control, |driver| seekers.iter().any(|seeker| seeker != NETVSC || driver != NETVSC)).is_ok()
}

/// Makes the program the owner of those ports without another owner whose drivers are `wanted`, and of no others.
fn reserve(control: &mut Control, wanted: impl Fn(&str) -> bool) -> Result<(), Errno> {
    for id in all(control) {
        let wanted = info(id, control).is_some_and(|info| wanted(&driver::name(&info)));
        match owner(id) {
            Owner::Nobody if wanted => {
                let mut owner = sys::rte_eth_dev_owner { id: owner_id(control)?, ..Default::default() };
                let name = PROGRAM.to_bytes_with_nul();
                owner.name.iter_mut().zip(name).for_each(|(to, from)| *to = from.cast_signed());
                // SAFETY: the port exists; the call copies the struct. It fails if a device has just taken the port, which is then
                // that device's.
                unsafe { sys::rte_eth_dev_owner_set(id, &raw const owner) };
            }
            Owner::Program if !wanted => {
                // SAFETY: the port exists.
                unsafe { sys::rte_eth_dev_owner_unset(id, control.owner) };
            }
            _ => (),
        }
    }
    Ok(())
}

/// The number of the program as an owner, which DPDK gives it when it is first needed.
fn owner_id(control: &mut Control) -> Result<u64, Errno> {
    if control.owner == 0 {
        // SAFETY: the EAL is initialised and has a port, so the memory of the list of owners exists; the call writes to a number
        // of ours.
        Errno::check(unsafe { sys::rte_eth_dev_owner_new(&raw mut control.owner) })?;
    }
    Ok(control.owner)
}

/// Ports that `net_bonding` cannot take, however its arguments call them: they have the flag of members as long as this
/// exists.
pub(crate) struct Fence<'c>(&'c Control, Vec<u16>);

impl<'c> Fence<'c> {
    /// Around all ports that are not `free`, and are nobody's members yet.
    pub(crate) fn new(control: &'c Control, free: impl Fn(u16) -> bool) -> Self {
        let is_nobodys = |id: u16| info(id, control).is_some_and(|info| !driver::is_member(&info));
        let fence = Self(control, all(control).filter(|id| !free(*id) && is_nobodys(*id)).collect());
        fence.set(true);
        fence
    }

    fn set(&self, member: bool) {
        for info in self.1.iter().filter_map(|id| info(*id, self.0)) {
            // SAFETY: the control plane stays locked while this refers to its state.
            unsafe { driver::set_member(&info, member) };
        }
    }
}

impl Drop for Fence<'_> {
    fn drop(&mut self) {
        self.set(false);
    }
}
