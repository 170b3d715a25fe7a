// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Lcores that call services.

use super::{ServiceError, StaysOnItsThread};
use crate::{
    Eal,
    environment::{Environment, Occupation},
    lcore::LcoreId,
};
use core::{fmt, marker::PhantomData};
use dpdk_sys as sys;
use std::{ffi::CString, sync::Arc};

/// DPDK's maximum number of services.
const SERVICES: u32 = 64;

/// The present service cores: those from [`ServiceCore::start`], and those in the EAL's options `-s` and `-S`.
#[doc(alias = "rte_service_lcore_list")]
#[must_use]
pub fn cores(eal: &Eal) -> Vec<LcoreId> {
    if eal.environment().is_forked() {
        return Vec::new();
    }
    let mut numbers = [0; sys::RTE_MAX_LCORE as usize];
    let _control = eal.environment().control();
    // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked; the array has room for all
    // lcores.
    let count = unsafe { sys::rte_service_lcore_list(numbers.as_mut_ptr(), sys::RTE_MAX_LCORE) };
    let numbers = numbers.into_iter().take(usize::try_from(count).unwrap_or(0));
    // SAFETY: the call has written the numbers of lcores.
    numbers.map(|number| unsafe { LcoreId::new(number) }).collect()
}

/// A worker lcore that calls services, instead of closures of an [`lcore::scope`](crate::lcore::scope). Dropping it
/// removes all services from it and waits for the end of the current call. After that the lcore is a worker again.
///
/// It stays on the thread that created it, so that no service waits for itself. As long as it lives, [`Eal::lcores`]
/// does not list the lcore, and the memory of pools is not freed, as within an `lcore::scope`.
#[doc(alias = "rte_service_lcore_add")]
#[must_use = "the lcore calls services until this is dropped"]
pub struct ServiceCore {
    lcore: LcoreId,
    environment: Arc<Environment>,
    thread: PhantomData<*const StaysOnItsThread>,
}

impl ServiceCore {
    /// Makes a worker lcore a service core without services.
    ///
    /// # Errors
    /// [`ServiceError::Main`], [`ServiceError::Busy`], [`ServiceError::Forked`] or [`ServiceError::Refused`].
    #[doc(alias = "rte_service_lcore_start")]
    pub fn start(eal: &Eal, lcore: LcoreId) -> Result<Self, ServiceError> {
        let environment = eal.environment();
        if environment.is_forked() {
            return Err(ServiceError::Forked);
        }
        if lcore == eal.main_lcore() {
            return Err(ServiceError::Main(lcore));
        }
        let free = environment.occupation(lcore).filter(|occupation| occupation.claim(lcore, environment.control()));
        let occupation = free.ok_or(ServiceError::Busy(lcore))?;
        // From now on the lcore may be inside DPDK and hold mbufs.
        environment.scope_opened();
        start(environment, lcore).inspect_err(|_| {
            occupation.release();
            // SAFETY: the lcore was counted a few lines above, and has not become a service core.
            unsafe { environment.scope_closed() };
        })?;
        Ok(Self { lcore, environment: Arc::clone(environment), thread: PhantomData })
    }

    /// The number of the lcore.
    #[must_use]
    pub const fn id(&self) -> LcoreId {
        self.lcore
    }

    /// Assigns a service of a driver to the lcore, by its name in DPDK, such as `event_sw0_service`. The lcore calls it as soon
    /// as the driver is ready.
    ///
    /// # Errors
    /// [`ServiceError::Unknown`], [`ServiceError::Name`], [`ServiceError::Forked`] or [`ServiceError::Refused`].
    #[doc(alias = "rte_service_get_by_name")]
    #[doc(alias = "rte_service_runstate_set")]
    pub fn run_driver_service(&self, name: &str) -> Result<(), ServiceError> {
        if self.environment.is_forked() {
            return Err(ServiceError::Forked);
        }
        let c_name = CString::new(name).map_err(|_| ServiceError::Name(name.to_owned()))?;
        let _control = self.environment.control();
        let mut id = 0;
        // SAFETY: the EAL is initialised, as the environment is; the call compares the name with others, and writes to a number.
        if unsafe { sys::rte_service_get_by_name(c_name.as_ptr(), &raw mut id) } != 0 {
            return Err(ServiceError::Unknown(name.to_owned()));
        }
        // SAFETY: the control plane is locked, and both numbers are DPDK's own; it compares them with its lists.
        let mapped = unsafe { sys::rte_service_map_lcore_set(id, self.lcore.get(), 1) };
        ServiceError::check("rte_service_map_lcore_set", mapped)?;
        // SAFETY: the control plane is locked, and the number is DPDK's own; it compares it with its list.
        ServiceError::check("rte_service_runstate_set", unsafe { sys::rte_service_runstate_set(id, 1) })
    }
}

/// Makes a claimed lcore a service core.
fn start(environment: &Environment, lcore: LcoreId) -> Result<(), ServiceError> {
    let _control = environment.control();
    // SAFETY: the EAL is initialised, since the environment is, the control plane is locked, and the lcore is an idle
    // worker, as `Occupation::claim` ensures.
    let added = unsafe { sys::rte_service_lcore_add(lcore.get()) };
    // Any other result is meaningless: it is that of the lcore's previous function.
    if [sys::EALREADY, sys::EINVAL].iter().any(|errno| added == -errno.cast_signed()) {
        return ServiceError::check("rte_service_lcore_add", added);
    }
    // SAFETY: the lcore has just become a service core, and is not running.
    let started = unsafe { sys::rte_service_lcore_start(lcore.get()) };
    ServiceError::check("rte_service_lcore_start", started).inspect_err(|_| end(lcore))
}

/// Removes all services from a service core, stops it and waits for it.
fn quiet(environment: &Environment, lcore: LcoreId) {
    let control = environment.control();
    for service in 0..SERVICES {
        // SAFETY: the control plane is locked. The call checks that the service exists.
        unsafe { sys::rte_service_map_lcore_set(service, lcore.get(), 0) };
    }
    // SAFETY: the control plane is locked, and the lcore is a service core on which no service depends any more.
    unsafe { sys::rte_service_lcore_stop(lcore.get()) };
    // A running call may need the control plane.
    drop(control);
    // SAFETY: the lcore exists, since it was started, and leaves DPDK's loop after its current call.
    unsafe { sys::rte_eal_wait_lcore(lcore.get()) };
}

/// Makes an idle service core a worker again. The control plane is locked.
fn end(lcore: LcoreId) {
    // SAFETY: the lcore is a service core that was stopped, or never started.
    unsafe { sys::rte_service_lcore_stop(lcore.get()) };
    // SAFETY: the lcore is a service core that is stopped, and only its owner comes here.
    unsafe { sys::rte_service_lcore_del(lcore.get()) };
}

impl Drop for ServiceCore {
    fn drop(&mut self) {
        if self.environment.is_forked() {
            return;
        }
        quiet(&self.environment, self.lcore);
        let control = self.environment.control();
        end(self.lcore);
        drop(control);
        self.environment.occupation(self.lcore).into_iter().for_each(Occupation::release);
        // SAFETY: `start` has counted the lcore, which has left the loop of service cores.
        unsafe { self.environment.scope_closed() };
    }
}

impl fmt::Debug for ServiceCore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServiceCore").field("lcore", &self.lcore).finish_non_exhaustive()
    }
}
