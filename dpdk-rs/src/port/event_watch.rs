// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Closures that are called when a link goes up or down, and on other events of a device.

use super::{Device, Port, PortError, PortId, Started, device::EventGuard};
use crate::{PrivateData, callback::Callbacks, sync::global};
use core::{
    ffi::{c_int, c_void},
    fmt, ptr,
};
use dpdk_sys as sys;
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// An event that a device reports. Which events it reports depends on its driver. Most drivers report only changes of
/// the link ([`Port::on_link_change`]).
#[doc(alias = "rte_eth_event_type")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PortEvent {
    /// The device does nothing more until it is reset, for example a virtual function whose physical function was
    /// reset. Stop the port and [reset](Port::reset) it.
    #[doc(alias = "RTE_ETH_EVENT_INTR_RESET")]
    NeedsReset,
    /// The other end has switched a queue on or off (`net_vhost`).
    #[doc(alias = "RTE_ETH_EVENT_QUEUE_STATE")]
    QueueState,
    /// The driver has detected an error and tries to recover. Until then nothing is received or sent.
    #[doc(alias = "RTE_ETH_EVENT_ERR_RECOVERING")]
    Recovering,
    /// The driver has recovered.
    #[doc(alias = "RTE_ETH_EVENT_RECOVERY_SUCCESS")]
    Recovered,
    /// The driver has not recovered. The port cannot be used any more.
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

global! {
    /// The closures, by port, event and number.
    ///
    /// This crate registers one DPDK function for each event of a port and never unregisters it. Unregistering frees
    /// memory to which DPDK writes after a call, as soon as one of two threads inside the function has returned.
    static WATCHES: Callbacks<Key, Box<dyn FnMut() + Send>> = Callbacks::new();
}

type Key = (u16, sys::rte_eth_event_type, usize);

/// The number of the next closure.
static NEXT: AtomicUsize = AtomicUsize::new(1);

/// A registration of a closure for changes of a port's link, until this object is dropped; from
/// [`Port::on_link_change`]. It keeps the port from being closed.
#[must_use = "the closure is called until this is dropped"]
pub struct LinkWatch(Registration);

/// A registration of a closure for a device's event, until this object is dropped; from [`Port::on_event`]. It keeps
/// the port from being closed.
#[must_use = "the closure is called until this is dropped"]
pub struct EventWatch(Registration);

/// The closure with this key is called until this object is dropped.
struct Registration {
    device: Arc<Device>,
    key: Key,
}

impl<P: PrivateData> Port<Started<P>> {
    /// Calls `changed` whenever the link has gone up or down. The port must have been configured with
    /// [`PortConfig::link_interrupts`](super::PortConfig::link_interrupts).
    ///
    /// The closure runs on a DPDK thread, or on the thread that stops the port. It must not call functions of ports,
    /// and must not drop a rule or a pool: these could deadlock. Let it set a flag or wake a thread, which then calls
    /// [`Port::link`]. If the closure drops the last handle of a port, the port is left open, and the EAL is not
    /// cleaned up. A panic in the closure is caught.
    ///
    /// # Errors
    /// [`PortError::Lacks`] if the port was configured without link interrupts; [`PortError::Refused`] if memory is
    /// short.
    #[doc(alias = "rte_eth_dev_callback_register")]
    #[doc(alias = "RTE_ETH_EVENT_INTR_LSC")]
    pub fn on_link_change(&self, changed: impl FnMut() + Send + 'static) -> Result<LinkWatch, PortError> {
        if !self.device.has_link_interrupts() {
            return Err(self.device.lacks("link interrupts, as it was configured"));
        }
        Registration::new(&self.device, sys::RTE_ETH_EVENT_INTR_LSC, "watch the link", Box::new(changed)).map(LinkWatch)
    }

    /// Calls `handler` whenever the device reports an event; DPDK does not say which devices never report one. The rules for
    /// the closure are those of [`Self::on_link_change`].
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
    /// [`PortError::Refused`] if memory is short.
    #[doc(alias = "rte_eth_dev_callback_register")]
    pub fn on_event(&self, event: PortEvent, handler: impl FnMut() + Send + 'static) -> Result<EventWatch, PortError> {
        Registration::new(&self.device, event.number(), "watch for events", Box::new(handler)).map(EventWatch)
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
        // SAFETY: the port exists as long as its `Device`, and the control plane is locked; `call_watches` takes any argument. The call does
        // nothing if the port has the function for this event already.
        let result = unsafe { sys::rte_eth_dev_callback_register(port, event, Some(call_watches), ptr::null_mut()) };
        drop(control);
        device.check("rte_eth_dev_callback_register", result, action)?;
        let key = (port, event, NEXT.fetch_add(1, Relaxed));
        WATCHES.add(key, closure);
        Ok(Self { device: Arc::clone(device), key })
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        // In a child process created by `fork`, threads that it lacks may hold the locks.
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

/// What DPDK calls. Nothing that it is given is followed.
extern "C" fn call_watches(port: u16, event: sys::rte_eth_event_type, _: *mut c_void, _: *mut c_void) -> c_int {
    let _handling = EventGuard::begin();
    WATCHES.call_all((port, event, 0)..=(port, event, usize::MAX), |closure| closure());
    0
}
