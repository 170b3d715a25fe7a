// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The base of the crate: the environment that all objects made from the [`Eal`] share, and that is dropped last.
//!
//! Nothing in this folder imports the modules that build on it. The methods of [`Eal`] are in `eal.rs`.

mod affinity;
mod bonding;
mod cleanup;
mod control;
mod deferred_drop;
mod device_args;
mod device_info;
pub(crate) mod driver;
pub(crate) mod iommu;
mod occupation;
mod owner;
pub(crate) mod ports;
mod quirks;
pub(crate) mod reservation;
mod retired_pools;
mod rounds;
mod start;

pub(crate) use affinity::restore as restore_affinity;
pub(crate) use bonding::{Bonding, outlast_alarm};
pub(crate) use control::{Control, ControlGuard};
pub(crate) use deferred_drop::drop_unlocked;
pub(crate) use device_info::DeviceInfo;
pub(crate) use occupation::Occupation;
pub(crate) use quirks::Quirks;
pub(crate) use reservation::Reservation;
use retired_pools::Retired;
pub(crate) use retired_pools::{PoolMemory, RawPool};
pub use start::EalError;
pub(crate) use start::{reason, refused_device, running_version, split, start_ended, start_once};

use crate::{
    ids::LcoreId,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        thread::{self, ThreadId},
    },
};
use core::marker::PhantomData;
use dpdk_sys as sys;
use std::{
    process,
    sync::{Arc, PoisonError},
};

const LCORES: usize = sys::RTE_MAX_LCORE as usize;

/// The initialised environment. It stays on the thread that created it, which is DPDK's main lcore.
///
/// Everything created from it keeps it alive. It is cleaned up (`rte_eal_cleanup`) when the last of these objects is
/// dropped, if that happens on this thread, every mbuf is back in its pool and every port could be closed. Otherwise
/// clean-up is skipped and logged, so a leak never dangles.
///
/// A child process created by `fork` inherits everything but owns nothing. There, calls that configure, launch or
/// create something fail with errors named `Forked`, and drops do not affect the parent's devices and memory. The
/// `unsafe` code that forks must ensure that the child does not use the parent's packets and queues.
///
/// ```compile_fail
/// # fn other(eal: dpdk_rs::Eal) {
/// std::thread::spawn(move || drop(eal)); // `Eal` is not `Send`
/// # }
/// ```
#[doc(alias = "rte_eal_init")]
#[doc(alias = "rte_eal_cleanup")]
pub struct Eal {
    environment: Arc<Environment>,
    thread: PhantomData<*const StaysOnItsThread>,
}

/// A pointer to this is neither `Send` nor `Sync`, and the compiler's message contains its name.
struct StaysOnItsThread;

impl Eal {
    /// The handle of an environment that this thread has initialised.
    pub(crate) fn of(environment: Environment) -> Self {
        Self { environment: Arc::new(environment), thread: PhantomData }
    }

    pub(crate) const fn environment(&self) -> &Arc<Environment> {
        &self.environment
    }
}

impl Drop for Eal {
    fn drop(&mut self) {
        // The memory of a waiting pool may be DPDK's own, and then keeps the environment alive.
        if !self.environment.is_forked() {
            drop(self.environment.control_with_room());
        }
    }
}

/// Whether this process is the primary one. The result means something once the EAL is initialised.
pub(crate) fn is_primary() -> bool {
    // SAFETY: the call reads a number in a static variable, which does not change after the EAL is initialised.
    unsafe { sys::rte_eal_process_type() == sys::RTE_PROC_PRIMARY }
}

/// Whether this process owns DPDK's memory and devices, or uses those of another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Primary,
    Secondary,
}

/// Shared by all objects created from the EAL. Dropped last.
pub(crate) struct Environment {
    role: Role,
    /// The process that initialised it.
    process: u32,
    main_thread: ThreadId,
    /// The number of open `lcore::scope`s and of the program's threads that are lcores.
    scopes: AtomicUsize,
    /// Indexed by lcore.
    occupations: [Occupation; LCORES],
    /// Whether all ports that existed at the last check read memory through the processor.
    read_by_processor: AtomicBool,
    control: Mutex<Control>,
}

impl Environment {
    /// For the thread that has initialised the EAL.
    ///
    /// # Safety
    /// This thread has just initialised the EAL, in this role, and there is no other `Environment`.
    pub(crate) unsafe fn new(role: Role) -> Self {
        Self {
            role,
            process: process::id(),
            main_thread: thread::current().id(),
            scopes: AtomicUsize::new(0),
            occupations: [const { Occupation::new() }; LCORES],
            read_by_processor: AtomicBool::new(false),
            control: Mutex::new(Control::new()),
        }
    }

    /// Locks the control plane. A panic of another holder leaves no inconsistent state that matters here.
    pub(crate) fn control(&self) -> ControlGuard<'_> {
        ControlGuard::new(self.control.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether this process is a child created by `fork`: it owns nothing here, and a thread that it lacks may hold a
    /// lock.
    pub(crate) fn is_forked(&self) -> bool {
        process::id() != self.process
    }

    /// Records that a new port exists.
    pub(crate) fn ports_have_changed(&self, _control: &ControlGuard<'_>) {
        self.read_by_processor.store(false, Ordering::Release);
    }

    /// Whether this process uses the memory and devices of another process.
    pub(crate) fn is_secondary(&self) -> bool {
        self.role == Role::Secondary
    }

    /// Whether other processes can attach to this process.
    pub(crate) fn can_be_attached_to(_control: &ControlGuard<'_>) -> bool {
        // SAFETY: the EAL is initialised, since its control plane is locked; the call reads a flag.
        if unsafe { sys::rte_eal_has_hugepages() } == 0 {
            return false;
        }
        // SAFETY: the EAL is initialised, since its control plane is locked; the call uses a name of its own.
        unsafe { sys::dpdk_sys_is_shared() != 0 }
    }

    pub(crate) fn on_main_thread(&self) -> bool {
        thread::current().id() == self.main_thread
    }

    /// The occupation of an lcore; `None` for a number that no lcore can have.
    pub(crate) fn occupation(&self, lcore: LcoreId) -> Option<&Occupation> {
        self.occupations.get(usize::try_from(lcore.get()).ok()?)
    }

    pub(crate) fn scope_opened(&self) {
        self.scopes.fetch_add(1, Ordering::SeqCst);
    }

    /// # Safety
    /// The call pairs with one of [`Self::scope_opened`], and no lcore or thread that was counted is inside DPDK any more.
    pub(crate) unsafe fn scope_closed(&self) {
        self.scopes.fetch_sub(1, Ordering::SeqCst);
        if !self.is_forked() {
            self.free_retired(&mut self.control());
        }
    }

    /// Frees a pool as soon as that is safe, and then the memory that contains its mbufs' buffers.
    ///
    /// # Safety
    /// The pool is live and has no handle any more, and this is the only call for it. All buffers of its mbufs are in the
    /// pool or in `memory`.
    pub(crate) unsafe fn retire_pool(&self, pool: RawPool, memory: PoolMemory) {
        if self.is_forked() {
            return;
        }
        let mut control = self.control();
        // SAFETY: the caller promises a live pool that nobody else frees.
        control.retired.push(unsafe { Retired::new(pool, memory) });
        self.free_retired(&mut control);
    }

    /// Locks the control plane after freeing the retired pools whose mbufs are all back: the next object may need their
    /// names and their memory. While this waits for the round of a service core it does not hold the lock, since the
    /// service may need it.
    pub(crate) fn control_with_room(&self) -> ControlGuard<'_> {
        loop {
            let mut control = self.control();
            self.free_retired(&mut control);
            if !self.may_free() || !control.retired.iter().any(Retired::is_full) {
                return control;
            }
            drop(control);
            thread::yield_now();
        }
    }

    /// Whether no other lcore can be inside DPDK, except service cores that the EAL's options have created.
    fn may_free(&self) -> bool {
        self.on_main_thread() && self.scopes.load(Ordering::SeqCst) == 0
    }

    /// Frees the retired pools whose mbufs are all back, if that is safe now.
    pub(crate) fn free_retired(&self, control: &mut Control) {
        if self.may_free() {
            // SAFETY: the control plane is locked, since the list is borrowed, and `may_free` has just agreed.
            unsafe { retired_pools::free(&mut control.retired) };
        }
    }
}
