// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A device's rules for received frames, which are destroyed before it is stopped.

use crate::ids::PortId;
use core::{mem, ptr::NonNull};
use dpdk_sys as sys;

/// The rules of a started port, by number. A number is used once.
#[derive(Default)]
pub(crate) struct Flows {
    last: u64,
    rules: Vec<(u64, RawFlow)>,
}

#[derive(Clone, Copy)]
pub(crate) struct RawFlow(NonNull<sys::rte_flow>);

// SAFETY: DPDK binds a rule to no thread; this type gives no access to it but its address, which is used under the lock of the
// control plane.
unsafe impl Send for RawFlow {}

impl RawFlow {
    /// # Safety
    /// The rule is one of a started port. It is destroyed only after it was taken from the port's [`Flows`].
    pub(crate) const unsafe fn new(flow: NonNull<sys::rte_flow>) -> Self {
        Self(flow)
    }

    pub(crate) const fn as_ptr(self) -> *mut sys::rte_flow {
        self.0.as_ptr()
    }
}

impl Flows {
    pub(crate) fn add(&mut self, flow: RawFlow) -> u64 {
        self.last += 1;
        self.rules.push((self.last, flow));
        self.last
    }

    pub(crate) fn get(&self, number: u64) -> Option<RawFlow> {
        self.rules.iter().find(|(own, _)| *own == number).map(|(_, flow)| *flow)
    }

    pub(crate) fn take(&mut self, number: u64) -> Option<RawFlow> {
        let place = self.rules.iter().position(|(own, _)| *own == number)?;
        Some(self.rules.swap_remove(place).1)
    }

    /// Destroys all rules.
    ///
    /// # Safety
    /// These are the rules of this port, which is still started, and the control plane is locked.
    pub(super) unsafe fn destroy_all(&mut self, port: PortId) {
        for (_, flow) in mem::take(&mut self.rules) {
            let mut error = sys::rte_flow_error::default();
            // SAFETY: the caller promises the port, and the rule was not destroyed: it has just left the list.
            unsafe { sys::rte_flow_destroy(port.get(), flow.0.as_ptr(), &raw mut error) };
        }
    }
}
