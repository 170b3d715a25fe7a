// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The lock of DPDK's control plane, and the state that it protects.

use super::{deferred_drop::Later, retired_pools::Retired};
use crate::sync::MutexGuard;
use core::ops::{Deref, DerefMut};
use dpdk_sys as sys;

const PORTS: usize = sys::RTE_MAX_ETHPORTS as usize;

/// DPDK's control plane is not thread-safe, not even for two different devices: calls to it are made under this lock.
pub(crate) struct Control {
    /// Pools without a handle whose memory was not freed yet.
    pub(super) retired: Vec<Retired>,
    /// The ports that were handed out.
    pub(crate) taken: [bool; PORTS],
    /// The ports that were configured, and not closed since.
    pub(crate) configured: [bool; PORTS],
    /// Ports that their drivers cannot close.
    pub(crate) left: Vec<String>,
    /// The number by which DPDK knows this process as an owner of ports; 0 before it was needed.
    pub(super) owner: u64,
}

impl Control {
    /// The initial state.
    pub(super) const fn new() -> Self {
        Self { retired: Vec::new(), taken: [false; PORTS], configured: [false; PORTS], left: Vec::new(), owner: 0 }
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
