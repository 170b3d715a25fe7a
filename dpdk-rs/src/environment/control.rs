// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The lock of DPDK's control plane, and the state that it protects.

use super::{deferred_drop::Later, retired_pools::Retired};
use crate::sync::MutexGuard;
use core::{
    mem,
    ops::{Deref, DerefMut},
};
use dpdk_sys as sys;

const PORTS: usize = sys::RTE_MAX_ETHPORTS as usize;

/// DPDK's control plane is not thread-safe, not even for two different devices: calls to it are made under this lock.
pub(crate) struct Control {
    /// Pools without a handle whose memory was not freed yet.
    pub(super) retired: Vec<Retired>,
    /// The ports that were handed out.
    taken: [bool; PORTS],
    /// The ports that were configured, and not closed since.
    configured: [bool; PORTS],
    /// The number by which DPDK knows this process as an owner of ports; 0 before it was needed.
    pub(super) owner: u64,
}

impl Control {
    /// The initial state.
    pub(super) const fn new() -> Self {
        Self { retired: Vec::new(), taken: [false; PORTS], configured: [false; PORTS], owner: 0 }
    }

    /// Takes a port, unless somebody has it. Whether the caller has it now.
    pub(super) fn take(&mut self, port: u16) -> bool {
        self.taken.get_mut(usize::from(port)).is_some_and(|taken| !mem::replace(taken, true))
    }

    /// Whether a port was handed out.
    pub(super) fn is_taken(&self, port: u16) -> bool {
        self.taken.get(usize::from(port)).copied().unwrap_or(true)
    }

    /// Records that a port is being configured.
    pub(crate) fn set_configured(&mut self, port: u16) {
        if let Some(configured) = self.configured.get_mut(usize::from(port)) {
            *configured = true;
        }
    }

    /// Whether a port was configured, and not closed since.
    pub(crate) fn is_configured(&self, port: u16) -> bool {
        self.configured.get(usize::from(port)).copied().unwrap_or(true)
    }

    /// Lets others take a port, or the next one that has this number.
    ///
    /// # Safety
    /// The port was handed out to the caller, who uses it no more, and it is closed or was never configured.
    pub(crate) unsafe fn give_back(&mut self, port: u16) {
        for ports in [&mut self.taken, &mut self.configured] {
            if let Some(port) = ports.get_mut(usize::from(port)) {
                *port = false;
            }
        }
    }
}

/// The locked control plane.
pub(crate) struct ControlGuard<'e> {
    control: MutexGuard<'e, Control>,
    /// After the lock, since fields are dropped in order.
    _later: Later,
}

impl<'e> ControlGuard<'e> {
    pub(super) fn new(control: MutexGuard<'e, Control>) -> Self {
        Self { control, _later: Later::begin() }
    }
}

impl Deref for ControlGuard<'_> {
    type Target = Control;

    fn deref(&self) -> &Control {
        &self.control
    }
}

impl DerefMut for ControlGuard<'_> {
    fn deref_mut(&mut self) -> &mut Control {
        &mut self.control
    }
}
