// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Service cores: lcores that repeatedly call functions of the program or of a driver.
//!
//! A [`Service`] is a closure. A [`ServiceCore`] is an lcore that calls all services assigned to it, in turn, for as long as
//! the `ServiceCore` lives. Drivers without hardware of their own, such as `event_sw`, have services too:
//! [`ServiceCore::run_driver_service`].
//!
//! ```no_run
//! use dpdk_rs::{Eal, EalOptions, service::{Activity, ServiceCore}};
//!
//! let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
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
//! Lcores in the EAL's options `-s` or `-S` are service cores from the start to the end: see [`cores`].

mod runner;
mod slot;

pub use runner::{ServiceCore, cores};
pub use slot::Activity;

use crate::{
    Eal, Errno,
    environment::Environment,
    lcore::{LcoreId, Panicked},
    name,
};
use core::{
    ffi::{c_char, c_int, c_void},
    fmt,
    marker::PhantomData,
};
use dpdk_sys as sys;
pub(crate) use slot::Slot;
use std::{
    collections::BTreeMap,
    ffi::CString,
    sync::{Arc, Mutex, PoisonError},
};

const LONGEST_NAME: usize = sys::RTE_SERVICE_NAME_MAX as usize - 1;

/// Why a service was not registered, or not assigned to an lcore.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ServiceError {
    /// DPDK would truncate the name, or cannot store it.
    #[error(
        "service name {0:?} cannot be used: give 1 to {longest} bytes, and no NUL byte",
        longest = name::longest(LONGEST_NAME)
    )]
    Name(String),
    /// A service with this name already exists.
    #[error("a service '{0}' already exists")]
    Taken(String),
    /// There is no such service.
    #[error("there is no service '{0}': a driver names its service when its device is created")]
    Unknown(String),
    /// A child process created by `fork` has no lcores: they belong to its parent.
    #[error("no services here: this process is a fork of the one that initialized the EAL")]
    Forked,
    /// The main lcore runs the program itself.
    #[error("lcore {0} is the main lcore: services run on other lcores")]
    Main(LcoreId),
    /// The lcore is busy, or is already a service core.
    #[error("lcore {0} is busy, or does not belong to the EAL: it cannot become a service core")]
    Busy(LcoreId),
    /// The lcore is not a service core.
    #[error(
        "lcore {0} is not a service core: start one there with ServiceCore::start, or name it with the EAL's option -S"
    )]
    NotServiceCore(LcoreId),
    /// A DPDK call failed.
    #[error("{call}: {errno}")]
    Refused {
        /// The name of the DPDK function.
        call: &'static str,
        /// `ENOSPC` if there are already 64 services, …
        errno: Errno,
    },
}

impl ServiceError {
    /// DPDK's error, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Refused { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Refused { call, .. } = self { Some(call) } else { None }
    }

    fn check(call: &'static str, result: i32) -> Result<(), Self> {
        Errno::check(result).map(drop).map_err(|errno| Self::Refused { call, errno })
    }
}

/// The statistics of a service, summed over the present service cores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServiceStats {
    /// The number of calls.
    pub calls: u64,
    /// The cycles of the time stamp counter that the busy calls took.
    pub cycles: u64,
}

/// The services that DPDK knows, by name, with their numbers. This crate never unregisters a service: a service core
/// might be about to call it at that moment, and would then call freed memory.
static KNOWN: Mutex<BTreeMap<CString, (u32, &'static Slot)>> = Mutex::new(BTreeMap::new());

/// A closure that service cores call repeatedly; from [`Eal::register_service`]. Dropping it stops the calls, waits for
/// a call that is running on another thread, and drops the closure.
///
/// It stays on the thread that created it.
#[doc(alias = "rte_service_component_register")]
#[must_use = "the closure is called until this is dropped"]
pub struct Service {
    name: String,
    id: u32,
    slot: &'static Slot,
    environment: Arc<Environment>,
    thread: PhantomData<*const StaysOnItsThread>,
}

/// A pointer to this is neither `Send` nor `Sync`, and the compiler's message contains its name.
struct StaysOnItsThread;

impl Eal {
    /// Registers a closure as a service. `name` has 1 to 28 bytes and is unique. Service cores call the closure once
    /// [`Service::run_on`] assigns it to them: one call at a time, on whichever core. A panic in it is caught, and ends
    /// the service ([`Service::take_panic`]).
    ///
    /// DPDK has room for 64 services, and names are never released: after a service is dropped, reuse its name rather
    /// than another one. A core that was in the middle of its round at the drop may call the new closure once before it
    /// is assigned to any core.
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
        let c_name = name::to_dpdk(name, LONGEST_NAME).filter(|_| !name.is_empty());
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
        // A rejected closure is dropped, and its drop may call this function.
        drop(known);
        if !slot.fill(Box::new(closure), environment) {
            return Err(ServiceError::Taken(name.to_owned()));
        }
        let service =
            Service { name: name.to_owned(), id, slot, environment: Arc::clone(environment), thread: PhantomData };
        service.set_running(true);
        Ok(service)
    }
}

/// Registers a service with a new name, without a closure.
fn register(environment: &Environment, name: &CString) -> Result<(u32, &'static Slot), ServiceError> {
    let control = environment.control();
    let mut id = 0;
    // SAFETY: the EAL is initialised, as the environment is; the call compares the name with others, and writes to a number.
    if unsafe { sys::rte_service_get_by_name(name.as_ptr(), &raw mut id) } == 0 {
        return Err(ServiceError::Taken(name::from_dpdk(&name.to_string_lossy()).to_owned()));
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
    // SAFETY: the EAL is initialised, and the control plane is locked. The call copies the struct, whose name ends with
    // a zero byte. The slot that it points to is never freed once the call has succeeded.
    let result = unsafe { sys::rte_service_component_register(&raw const spec, &raw mut id) };
    drop(control);
    if let Err(error) = ServiceError::check("rte_service_component_register", result) {
        // SAFETY: DPDK rejected the service, and keeps no pointer to the slot that was boxed above.
        drop(unsafe { Box::from_raw(slot) });
        return Err(error);
    }
    // SAFETY: the call set `id` to the number of a service that is never unregistered.
    unsafe { sys::rte_service_set_stats_enable(id, 1) };
    // SAFETY: the slot is a box that is never freed from now on, and only shared references to it are created.
    Ok((id, unsafe { &*slot }))
}

/// The function that a service core calls.
///
/// # Safety
/// `slot` is one that `register` has passed to DPDK: it lives for ever.
unsafe extern "C" fn run(slot: *mut c_void) -> c_int {
    // SAFETY: the caller passes on a slot that lives for ever and has only shared references.
    let slot = unsafe { &*slot.cast::<Slot>() };
    match slot.run() {
        Activity::Busy => 0,
        Activity::Idle => -sys::EAGAIN.cast_signed(),
    }
}

impl Service {
    /// Assigns the service to a service core, in addition to its other services. Several cores may have it: one of them
    /// calls it at a time.
    ///
    /// # Errors
    /// [`ServiceError::NotServiceCore`] or [`ServiceError::Forked`].
    #[doc(alias = "rte_service_map_lcore_set")]
    pub fn run_on(&self, lcore: LcoreId) -> Result<(), ServiceError> {
        self.map(lcore, true)
    }

    /// Removes the service from a service core. A call that is running continues to its end, and a core that is in the
    /// middle of its round may call the service once more.
    ///
    /// # Errors
    /// [`ServiceError::NotServiceCore`] or [`ServiceError::Forked`].
    #[doc(alias = "rte_service_map_lcore_set")]
    pub fn leave(&self, lcore: LcoreId) -> Result<(), ServiceError> {
        self.map(lcore, false)
    }

    /// How often the service was called, and for how long.
    #[doc(alias = "rte_service_attr_get")]
    #[must_use]
    pub fn stats(&self) -> ServiceStats {
        let attribute = |attribute| {
            let mut value = 0;
            // SAFETY: the service is never unregistered. The call adds up numbers, and writes to one of ours.
            unsafe { sys::rte_service_attr_get(self.id, attribute, &raw mut value) };
            value
        };
        ServiceStats {
            calls: attribute(sys::RTE_SERVICE_ATTR_CALL_COUNT),
            cycles: attribute(sys::RTE_SERVICE_ATTR_CYCLES),
        }
    }

    /// The closure's panic, if it has panicked. The closure was then dropped, and is not called any more.
    #[must_use]
    pub fn take_panic(&self) -> Option<Panicked> {
        self.slot.take_panic()
    }

    fn map(&self, lcore: LcoreId, on: bool) -> Result<(), ServiceError> {
        if self.environment.is_forked() {
            return Err(ServiceError::Forked);
        }
        let _control = self.environment.control();
        // SAFETY: the service is never unregistered, and the control plane is locked. The call checks that the lcore is
        // a service core.
        let result = unsafe { sys::rte_service_map_lcore_set(self.id, lcore.get(), u32::from(on)) };
        if result == 0 { Ok(()) } else { Err(ServiceError::NotServiceCore(lcore)) }
    }

    /// Sets whether the assigned service cores call the service.
    fn set_running(&self, on: bool) {
        let _control = self.environment.control();
        // SAFETY: the service is never unregistered. The call writes an atomic number.
        unsafe { sys::rte_service_component_runstate_set(self.id, u32::from(on)) };
        // SAFETY: the service is never unregistered. The call writes an atomic number.
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
            // An lcore that is not a service core does not call the service either.
            // SAFETY: the loop ends below RTE_MAX_LCORE.
            let _ = self.map(unsafe { LcoreId::new(lcore) }, false);
        }
        self.slot.empty();
    }
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("name", &self.name).field("stats", &self.stats()).finish()
    }
}
