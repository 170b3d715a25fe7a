// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Being told when a link goes up or down, and of other events of a device.

use super::{Device, Port, PortError, PortId, Started};
use crate::{PrivateData, callback::Callbacks};
use core::{
    cell::Cell,
    ffi::{c_int, c_void},
    fmt, ptr,
};
use dpdk_sys as sys;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// What a device tells by itself. Which it tells, if any, depends on its driver: most know changes of the link only
/// ([`Port::on_link_change`]).
#[doc(alias = "rte_eth_event_type")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PortEvent {
    /// It does nothing more until it is reset, such as a virtual function whose physical one was reset: stop the port and
    /// [reset](Port::reset) it.
    #[doc(alias = "RTE_ETH_EVENT_INTR_RESET")]
    NeedsReset,
    /// A queue was switched on or off at the other end (`net_vhost`).
    #[doc(alias = "RTE_ETH_EVENT_QUEUE_STATE")]
    QueueState,
    /// The driver has noticed an error and tries to get over it, during which nothing is received or sent.
    #[doc(alias = "RTE_ETH_EVENT_ERR_RECOVERING")]
    Recovering,
    /// It has got over it.
    #[doc(alias = "RTE_ETH_EVENT_RECOVERY_SUCCESS")]
    Recovered,
    /// It has not: the port is of no more use.
    #[doc(alias = "RTE_ETH_EVENT_RECOVERY_FAILED")]
    RecoveryFailed,
}

impl PortEvent {
    const fn number(self) -> sys::rte_eth_event_type {
        match self {
            Self::NeedsReset => sys::RTE_ETH_EVENT_INTR_RESET,
            Self::QueueState => sys::RTE_ETH_EVENT_QUEUE_STATE,
            Self::Recovering => sys::RTE_ETH_EVENT_ERR_RECOVERING,
            Self::Recovered => sys::RTE_ETH_EVENT_RECOVERY_SUCCESS,
            Self::RecoveryFailed => sys::RTE_ETH_EVENT_RECOVERY_FAILED,
        }
    }
}

/// What is called, by port, event and number.
///
/// DPDK has one function for each event of a port, which is never taken away: that frees what DPDK writes to when a call returns, as
/// soon as one of two threads is back that are in the function at the same time.
static WATCHES: Callbacks<Key, Box<dyn FnMut() + Send>> = Callbacks::new();

type Key = (u16, sys::rte_eth_event_type, usize);

/// The number of the next one.
static NEXT: AtomicUsize = AtomicUsize::new(1);

/// A closure that is called when a port's link changes, until this is dropped; made by [`Port::on_link_change`]. It keeps the
/// port from being closed.
#[must_use = "the closure is called until this is dropped"]
pub struct LinkWatch(Registration);

/// A closure that is called when a device tells of an event, until this is dropped; made by [`Port::on_event`]. It keeps the port
/// from being closed.
#[must_use = "the closure is called until this is dropped"]
pub struct EventWatch(Registration);

/// Until its drop the closure of this key is called.
struct Registration {
    device: Arc<Device>,
    key: Key,
}

impl<P: PrivateData> Port<Started<P>> {
    /// Calls `changed` whenever the link has gone up or down, on a port with
    /// [`PortConfig::link_interrupts`](super::PortConfig::link_interrupts).
    ///
    /// The closure runs on a thread of DPDK, or on the one that stops the port. It must not call functions of ports, nor drop a rule
    /// or a pool, which may wait for each other: let it set a flag or wake a thread, which then asks [`Port::link`]. A port whose last
    /// handle it drops is left open, and the EAL is not cleaned up. A panic in it is caught.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the port was configured without link interrupts; [`PortError::Refused`] without memory.
    #[doc(alias = "rte_eth_dev_callback_register")]
    #[doc(alias = "RTE_ETH_EVENT_INTR_LSC")]
    pub fn on_link_change(&self, changed: impl FnMut() + Send + 'static) -> Result<LinkWatch, PortError> {
        if !self.device.has_link_interrupts() {
            return Err(self.device.lacks("link interrupts, as it was configured"));
        }
        Registration::new(&self.device, sys::RTE_ETH_EVENT_INTR_LSC, "watch the link", Box::new(changed)).map(LinkWatch)
    }

    /// Calls `told` whenever the device tells of an event; nobody says of a device that it never will. The closure is one as that of
    /// [`Self::on_link_change`].
    ///
    /// ```no_run
    /// # use dpdk_rs::{Mempool, Port, PortConfig, port::{PortEvent, StartedPort}};
    /// # use std::sync::{Arc, atomic::{AtomicBool, Ordering::Relaxed}};
    /// # fn serve((port, mut rx, mut tx): StartedPort<()>, pool: &Mempool) -> Result<(), Box<dyn std::error::Error>> {
    /// let ill = Arc::new(AtomicBool::new(false));
    /// let tell = Arc::clone(&ill);
    /// let _watch = port.on_event(PortEvent::NeedsReset, move || tell.store(true, Relaxed))?;
    /// while !ill.load(Relaxed) {
    ///     // … forward …
    /// }
    /// let (port, rx, tx) = port.stop(rx, tx)?.reset()?.configure(&PortConfig::default(), pool)?.start()?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`PortError::Refused`] without memory.
    #[doc(alias = "rte_eth_dev_callback_register")]
    pub fn on_event(&self, event: PortEvent, told: impl FnMut() + Send + 'static) -> Result<EventWatch, PortError> {
        Registration::new(&self.device, event.number(), "watch for events", Box::new(told)).map(EventWatch)
    }
}

impl LinkWatch {
    /// The port.
    #[must_use]
    pub fn port(&self) -> PortId {
        self.0.device.id()
    }
}

impl EventWatch {
    /// The port.
    #[must_use]
    pub fn port(&self) -> PortId {
        self.0.device.id()
    }
}

impl Registration {
    fn new(
        device: &Arc<Device>,
        event: sys::rte_eth_event_type,
        action: &str,
        closure: Box<dyn FnMut() + Send>,
    ) -> Result<Self, PortError> {
        let port = device.id().get();
        let control = device.control()?;
        // SAFETY: the port exists as long as its `Device`, and the control plane is locked; `told` takes any argument. The call does
        // nothing if the port has the function for this event already.
        let result = unsafe { sys::rte_eth_dev_callback_register(port, event, Some(told), ptr::null_mut()) };
        drop(control);
        device.check("rte_eth_dev_callback_register", result, action)?;
        let key = (port, event, NEXT.fetch_add(1, Relaxed));
        WATCHES.add(key, closure);
        Ok(Self { device: Arc::clone(device), key })
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // In a child made by `fork` the locks may be held by threads that it lacks.
        if self.device.is_forked() {
            return;
        }
        WATCHES.remove(&self.key);
    }
}

impl fmt::Debug for LinkWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LinkWatch").field("port", &self.port().get()).finish_non_exhaustive()
    }
}

impl fmt::Debug for EventWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventWatch").field("port", &self.port().get()).finish_non_exhaustive()
    }
}

thread_local! {
    /// Whether a driver has called this thread's function below, and goes on with its device when that returns.
    static TOLD: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a closure that is told of an event.
pub(super) fn is_told() -> bool {
    TOLD.get()
}

/// Until its drop the thread is told of an event, and maybe behind it, where an event has led to another.
struct Told(bool);

impl Drop for Told {
    fn drop(&mut self) {
        TOLD.set(self.0);
    }
}

/// What DPDK calls. Nothing that it is given is followed.
extern "C" fn told(port: u16, event: sys::rte_eth_event_type, _: *mut c_void, _: *mut c_void) -> c_int {
    let _told = Told(TOLD.replace(true));
    WATCHES.call_all((port, event, 0)..=(port, event, usize::MAX), |closure| closure());
    0
}
