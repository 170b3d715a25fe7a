// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Service cores: lcores that call what has to be called again and again, for the program or for a driver.
//!
//! A [`Service`] is a closure, a [`ServiceCore`] an lcore that calls all services that were put on it, in turn, for as long as it
//! lives. Drivers without hardware of their own have services too, such as `event_sw`:
//! [`ServiceCore::run_driver_service`].
//!
//! ```no_run
//! use dpdk_rs::{Eal, service::{Activity, ServiceCore}};
//!
//! let (eal, _args) = Eal::init(std::env::args())?;
//! let lcore = eal.worker_lcores().first().ok_or("no worker lcore: give two with -l")?.id();
//! let (work, queue) = std::sync::mpsc::channel::<u32>();
//! let service = eal.register_service("adder", move || match queue.try_recv() {
//!     Ok(_number) => Activity::Busy,
//!     Err(_) => Activity::Idle,
//! })?;
//! let core = ServiceCore::start(&eal, lcore)?;
//! service.run_on(core.id())?;
//! work.send(1)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Lcores that the EAL's options `-s` or `-S` name are service cores from the start, and to the end: see [`cores`].

mod rounds;
mod runner;
mod slot;

pub(crate) use rounds::Rounds;
pub use runner::{ServiceCore, cores};

use crate::{
    Eal, Errno,
    eal::Environment,
    lcore::{LcoreId, Panicked},
};
use core::{
    ffi::{c_char, c_int, c_void},
    fmt,
    marker::PhantomData,
};
use dpdk_sys as sys;
use slot::Slot;
use std::{
    collections::BTreeMap,
    ffi::CString,
    sync::{Arc, Mutex, PoisonError},
};

/// What a call of a service has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Activity {
    /// Something to do.
    Busy,
    /// Nothing: the time of this call does not count.
    Idle,
}

/// Why there is no service, or no lcore for it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// DPDK would cut the name, or cannot hold it.
    #[error("service name {0:?} cannot be used: give 1 to 31 bytes, and no NUL byte")]
    Name(String),
    /// There is such a service already, of the program or of a driver.
    #[error("there is a service '{0}' already")]
    Taken(String),
    /// There is no such service.
    #[error("there is no service '{0}': a driver gives it a name when its device is made")]
    Unknown(String),
    /// A child made by `fork` has no lcores: they are its parent's.
    #[error("no services here: this process is a fork of the one that initialized the EAL")]
    Forked,
    /// The main lcore runs the program itself.
    #[error("lcore {0} is the main lcore: services run on others")]
    Main(LcoreId),
    /// The lcore does something else, or is a service core already.
    #[error("lcore {0} is busy, or is no lcore of the EAL's: it cannot become a service core")]
    Busy(LcoreId),
    /// The lcore is no service core.
    #[error(
        "lcore {0} is no service core: start one there with ServiceCore::start, or name it with the EAL's option -S"
    )]
    NotServiceCore(LcoreId),
    /// A call of DPDK failed.
    #[error("{call}: {errno}")]
    Refused {
        /// The call.
        call: &'static str,
        /// `ENOSPC` if there are 64 services, …
        errno: Errno,
    },
}

impl ServiceError {
    /// DPDK's error, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Refused { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Refused { call, .. } = self { Some(call) } else { None }
    }

    fn check(call: &'static str, result: i32) -> Result<(), Self> {
        Errno::check(result).map(drop).map_err(|errno| Self::Refused { call, errno })
    }
}

/// What a service has done, on the lcores that are service cores now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceStats {
    /// How often it was called.
    pub calls: u64,
    /// How many cycles of the time stamp counter the calls took that found something to do.
    pub cycles: u64,
}

/// The services that DPDK knows, by name, with their numbers. It forgets none: a service core may be about to call one just
/// when it is taken away, and then calls what is no longer there.
static KNOWN: Mutex<BTreeMap<CString, (u32, &'static Slot)>> = Mutex::new(BTreeMap::new());

/// A closure that service cores call again and again; made by [`Eal::register_service`]. Dropping it ends that, waits for a
/// call that is under way on another thread, and drops the closure.
///
/// It stays on the thread that made it.
#[doc(alias = "rte_service_component_register")]
#[must_use = "the closure is called until this is dropped"]
pub struct Service {
    name: CString,
    id: u32,
    slot: &'static Slot,
    environment: Arc<Environment>,
    thread: PhantomData<*const StaysOnItsThread>,
}

/// A pointer to this is neither `Send` nor `Sync`, and the compiler's message says why.
struct StaysOnItsThread;

impl Eal {
    /// Makes a service of a closure, under a name of 1 to 31 bytes that no other has. It is called once it is put on a service
    /// core ([`Service::run_on`]): one call at a time, whichever core that is on. A panic in it is caught, and ends it
    /// ([`Service::take_panic`]).
    ///
    /// DPDK has room for 64 services, and forgets no name: use one again after its service is dropped, rather than others. A core
    /// that was in the middle of its round when the other was dropped may call the new closure once, before it is put anywhere.
    ///
    /// # Errors
    /// See [`ServiceError`].
    #[doc(alias = "rte_service_component_register")]
    pub fn register_service(
        &self,
        name: &str,
        closure: impl FnMut() -> Activity + Send + 'static,
    ) -> Result<Service, ServiceError> {
        let environment = self.environment();
        if environment.is_forked() {
            return Err(ServiceError::Forked);
        }
        let length = 1..sys::RTE_SERVICE_NAME_MAX as usize;
        let c_name = CString::new(name).ok().filter(|_| length.contains(&name.len()));
        let c_name = c_name.ok_or_else(|| ServiceError::Name(name.to_owned()))?;
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        let (id, slot) = match known.get(&c_name) {
            Some(found) => *found,
            None => {
                let made = register(environment, &c_name)?;
                known.insert(c_name.clone(), made);
                made
            }
        };
        // A closure that is refused is dropped, and may come here again then.
        drop(known);
        if !slot.fill(Box::new(closure), environment) {
            return Err(ServiceError::Taken(name.to_owned()));
        }
        let service = Service { name: c_name, id, slot, environment: Arc::clone(environment), thread: PhantomData };
        service.set_running(true);
        Ok(service)
    }
}

/// Has DPDK know a service of a name that it does not know yet, without a closure.
fn register(environment: &Environment, name: &CString) -> Result<(u32, &'static Slot), ServiceError> {
    let control = environment.control();
    let mut id = 0;
    // SAFETY: the EAL is initialised, as the environment is; the call compares the name with others, and writes to a number.
    if unsafe { sys::rte_service_get_by_name(name.as_ptr(), &raw mut id) } == 0 {
        return Err(ServiceError::Taken(name.to_string_lossy().into_owned()));
    }
    let slot = Box::into_raw(Box::new(Slot::new()));
    let mut spec = sys::rte_service_spec {
        callback: Some(run),
        callback_userdata: slot.cast(),
        socket_id: sys::SOCKET_ID_ANY,
        ..Default::default()
    };
    for (place, byte) in spec.name.iter_mut().zip(name.as_bytes()) {
        *place = *byte as c_char;
    }
    // SAFETY: the EAL is initialised, and the control plane is locked; the call copies the struct, whose last byte of the name is
    // zero. The slot that it points to is never freed once the call has succeeded.
    let result = unsafe { sys::rte_service_component_register(&raw const spec, &raw mut id) };
    drop(control);
    if let Err(error) = ServiceError::check("rte_service_component_register", result) {
        // SAFETY: DPDK has refused, and keeps no pointer to the slot that was boxed above.
        drop(unsafe { Box::from_raw(slot) });
        return Err(error);
    }
    // SAFETY: the call gave the number of a service that is never taken away.
    unsafe { sys::rte_service_set_stats_enable(id, 1) };
    // SAFETY: the slot is a box that is never freed from here on, and shared references are all that is made of it.
    Ok((id, unsafe { &*slot }))
}

/// What a service core calls.
///
/// # Safety
/// `slot` is one that `register` has given to DPDK: it lives for ever.
unsafe extern "C" fn run(slot: *mut c_void) -> c_int {
    // SAFETY: the caller passes on a slot that lives for ever, and of which there are shared references only.
    let slot = unsafe { &*slot.cast::<Slot>() };
    match slot.run() {
        Activity::Busy => 0,
        Activity::Idle => -sys::EAGAIN.cast_signed(),
    }
}

impl Service {
    /// Has a service core call the closure, beside what it calls otherwise. Several may: one of them at a time.
    ///
    /// # Errors
    /// [`ServiceError::NotServiceCore`] or [`ServiceError::Forked`].
    #[doc(alias = "rte_service_map_lcore_set")]
    pub fn run_on(&self, lcore: LcoreId) -> Result<(), ServiceError> {
        self.map(lcore, true)
    }

    /// Has a service core call it no more. A call that is under way goes on to its end, and a core that is in the middle of its
    /// round of services may call it once more.
    ///
    /// # Errors
    /// [`ServiceError::NotServiceCore`] or [`ServiceError::Forked`].
    #[doc(alias = "rte_service_map_lcore_set")]
    pub fn leave(&self, lcore: LcoreId) -> Result<(), ServiceError> {
        self.map(lcore, false)
    }

    /// How often it was called, and for how long.
    #[doc(alias = "rte_service_attr_get")]
    #[must_use]
    pub fn stats(&self) -> ServiceStats {
        let attribute = |attribute| {
            let mut value = 0;
            // SAFETY: the service is one that is never taken away; the call adds numbers up, and writes to one of ours.
            unsafe { sys::rte_service_attr_get(self.id, attribute, &raw mut value) };
            value
        };
        ServiceStats {
            calls: attribute(sys::RTE_SERVICE_ATTR_CALL_COUNT),
            cycles: attribute(sys::RTE_SERVICE_ATTR_CYCLES),
        }
    }

    /// What the closure has panicked with, if it has: since then it is not called any more, and was dropped.
    #[must_use]
    pub fn take_panic(&self) -> Option<Panicked> {
        self.slot.take_panic()
    }

    fn map(&self, lcore: LcoreId, on: bool) -> Result<(), ServiceError> {
        if self.environment.is_forked() {
            return Err(ServiceError::Forked);
        }
        let _control = self.environment.control();
        // SAFETY: the service is one that is never taken away, and the control plane is locked; the call looks whether the lcore is a
        // service core.
        let result = unsafe { sys::rte_service_map_lcore_set(self.id, lcore.get(), u32::from(on)) };
        if result == 0 { Ok(()) } else { Err(ServiceError::NotServiceCore(lcore)) }
    }

    /// Whether service cores call it that it was put on.
    fn set_running(&self, on: bool) {
        let _control = self.environment.control();
        // SAFETY: the service is one that is never taken away; the call writes an atomic number.
        unsafe { sys::rte_service_component_runstate_set(self.id, u32::from(on)) };
        // SAFETY: the service is one that is never taken away; the call writes an atomic number.
        unsafe { sys::rte_service_runstate_set(self.id, u32::from(on)) };
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        if self.environment.is_forked() {
            return;
        }
        self.set_running(false);
        for lcore in 0..sys::RTE_MAX_LCORE {
            // One that is no service core does not call it either.
            let _ = self.map(LcoreId(lcore), false);
        }
        self.slot.empty();
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("name", &self.name).field("stats", &self.stats()).finish()
    }
}
