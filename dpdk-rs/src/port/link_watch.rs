// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Being told when a link goes up or down.

use super::{Device, Port, PortError, PortId, Started};
use crate::{PrivateData, callback::Callbacks};
use core::{
    ffi::{c_int, c_void},
    fmt, ptr,
};
use dpdk_sys as sys;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// What is called, by port and number.
///
/// DPDK has one function for each port, which is never taken away: that frees what DPDK writes to when a call returns, as soon as
/// one of two threads is back that are in the function at the same time.
static WATCHES: Callbacks<(u16, usize), Box<dyn FnMut() + Send>> = Callbacks::new();

/// The number of the next one.
static NEXT: AtomicUsize = AtomicUsize::new(1);

/// A closure that is called when a port's link changes, until this is dropped; made by [`Port::on_link_change`]. It keeps the
/// port from being closed.
#[must_use = "the closure is called until this is dropped"]
pub struct LinkWatch {
    device: Arc<Device>,
    number: usize,
}

impl<P: PrivateData> Port<Started<P>> {
    /// Calls `changed` whenever the link has gone up or down, on a port with
    /// [`PortConfig::link_interrupts`](super::PortConfig::link_interrupts).
    ///
    /// The closure runs on a thread of DPDK, or on the one that stops the port. It must not call functions of ports, which may
    /// wait for each other: let it set a flag or wake a thread, which then asks [`Port::link`]. A panic in it is caught.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the port was configured without link interrupts; [`PortError::Refused`] without memory.
    #[doc(alias = "rte_eth_dev_callback_register")]
    #[doc(alias = "RTE_ETH_EVENT_INTR_LSC")]
    pub fn on_link_change(&self, changed: impl FnMut() + Send + 'static) -> Result<LinkWatch, PortError> {
        if !self.device.has_link_interrupts() {
            return Err(self.device.lacks("link interrupts, as it was configured"));
        }
        let port = self.id().get();
        let control = self.device.control()?;
        // SAFETY: the port exists as long as its `Device`, and the control plane is locked; `link_changed` takes any argument. The
        // call does nothing if the port has the function already.
        let result = unsafe {
            sys::rte_eth_dev_callback_register(port, sys::RTE_ETH_EVENT_INTR_LSC, Some(link_changed), ptr::null_mut())
        };
        drop(control);
        self.device.check("rte_eth_dev_callback_register", result, "watch the link")?;
        let number = NEXT.fetch_add(1, Relaxed);
        WATCHES.add((port, number), Box::new(changed));
        Ok(LinkWatch { device: Arc::clone(&self.device), number })
    }
}

impl LinkWatch {
    /// The port.
    #[must_use]
    pub fn port(&self) -> PortId {
        self.device.id()
    }
}

impl Drop for LinkWatch {
    fn drop(&mut self) {
        // In a child made by `fork` the locks may be held by threads that it lacks.
        if self.device.is_forked() {
            return;
        }
        WATCHES.remove(&(self.device.id().get(), self.number));
    }
}

impl fmt::Debug for LinkWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkWatch").field("port", &self.port().get()).finish_non_exhaustive()
    }
}

/// What DPDK calls. Nothing that it is given is followed.
extern "C" fn link_changed(port: u16, _event: sys::rte_eth_event_type, _: *mut c_void, _: *mut c_void) -> c_int {
    WATCHES.call_all((port, 0)..=(port, usize::MAX), |changed| changed());
    0
}
