// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The program's own threads, registered as lcores.

use super::{LcoreId, current, managing::is_managing};
use crate::{Errno, environment::Environment};
use core::{cell::Cell, fmt, marker::PhantomData, mem};
use dpdk_sys as sys;
use std::sync::Arc;

/// Why a thread was not registered as an lcore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The thread is already an lcore.
    #[error("this thread is already lcore {0}")]
    IsLcore(LcoreId),
    /// A child process created by `fork` has no lcores: they belong to its parent.
    #[error("cannot register a thread: this process is a fork of the one that initialized the EAL")]
    Forked,
    /// `rte_thread_register` failed: `ENOMEM` if all lcore numbers are in use, `EINVAL` if a [secondary
    /// process](crate::secondary) has attached to this one.
    #[error("cannot register the thread as an lcore: {0}")]
    Register(Errno),
}

/// Registers threads that the EAL did not create as lcores, such as threads of [`std::thread`] or of an asynchronous
/// runtime; from [`Eal::registrar`](crate::Eal::registrar). A clone is the same object.
///
/// A registered thread has a cache in each pool, like the EAL's own lcores. This halves the time for an allocation and
/// a free, roughly.
///
/// ```no_run
/// let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
/// let registrar = eal.registrar();
/// let worker = std::thread::spawn(move || {
///     let lcore = registrar.register()?;
///     println!("this thread is lcore {}", lcore.id());
///     Ok::<(), dpdk_rs::lcore::RegisterError>(())
/// });
/// worker.join().expect("it does not panic")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "rte_thread_register")]
#[derive(Clone)]
pub struct Registrar {
    environment: Arc<Environment>,
}

impl Registrar {
    pub(crate) const fn new(environment: Arc<Environment>) -> Self {
        Self { environment }
    }

    /// Registers the calling thread as an lcore, with a number of its own, until the result is dropped.
    ///
    /// # Errors
    /// See [`RegisterError`].
    #[doc(alias = "rte_thread_register")]
    pub fn register(&self) -> Result<Registered, RegisterError> {
        if self.environment.is_forked() {
            return Err(RegisterError::Forked);
        }
        // DPDK would give the thread a second number, and never release the first one.
        if let Some(lcore) = current() {
            return Err(RegisterError::IsLcore(lcore));
        }
        // From now on the thread may be inside DPDK with its own lcore number, as in a scope.
        self.environment.scope_opened();
        let control = self.environment.control();
        // SAFETY: the EAL is initialised as long as the `Environment` lives, and the thread is not an lcore yet.
        let result = unsafe { sys::rte_thread_register() };
        let errno = Errno::last();
        drop(control);
        match current() {
            Some(id) if result >= 0 => {
                Ok(Registered { environment: Arc::clone(&self.environment), id, thread: PhantomData })
            }
            _ => {
                // SAFETY: the thread was counted a few lines above, and has not become an lcore.
                unsafe { self.environment.scope_closed() };
                Err(RegisterError::Register(errno))
            }
        }
    }
}

impl fmt::Debug for Registrar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registrar").finish_non_exhaustive()
    }
}

/// The registration of a thread as an lcore; from [`Registrar::register`]. Dropping it ends the registration, but in a
/// timer's closure the registration ends when [`Timers::manage`](crate::timer::Timers::manage) returns.
#[doc(alias = "rte_thread_unregister")]
pub struct Registered {
    environment: Arc<Environment>,
    id: LcoreId,
    thread: PhantomData<*const StaysOnItsThread>,
}

/// A pointer to this is neither `Send` nor `Sync`, and the compiler's message contains its name.
struct StaysOnItsThread;

impl Registered {
    /// The lcore's number.
    #[must_use]
    pub const fn id(&self) -> LcoreId {
        self.id
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        if self.environment.is_forked() {
            return;
        }
        let environment = Arc::clone(&self.environment);
        if !is_managing() {
            // SAFETY: this is the registered thread, since a `Registered` cannot leave it, and it is dropped once.
            unsafe { unregister(&environment) };
            return;
        }
        // DPDK continues with the timers of this lcore after their closure returns. No other thread may become this
        // lcore before that.
        let late = LATE.try_with(|late| late.set(Some(Arc::clone(&environment))));
        if late.is_err() {
            // The thread's local storage is being destroyed. It stays an lcore, whose number nobody else gets.
            mem::forget(environment);
        }
    }
}

thread_local! {
    /// Set while the end of this thread's registration waits for the end of `rte_timer_manage`.
    static LATE: Cell<Option<Arc<Environment>>> = const { Cell::new(None) };
}

/// Ends this thread's registration if it has waited for the end of `rte_timer_manage`.
///
/// # Safety
/// The thread is not inside a DPDK call that uses its lcore.
pub(crate) unsafe fn end_late() {
    if let Ok(Some(environment)) = LATE.try_with(Cell::take) {
        // SAFETY: this is the registered thread, whose `Registered` has left the end of the registration to this
        // function.
        unsafe { unregister(&environment) };
    }
}

/// Ends the registration of the calling thread.
///
/// # Safety
/// The thread is registered, and is not inside a DPDK call that uses its lcore.
unsafe fn unregister(environment: &Environment) {
    let control = environment.control();
    // SAFETY: the caller promises a registered thread.
    unsafe { sys::rte_thread_unregister() };
    drop(control);
    // SAFETY: `register` has counted the thread, which is no lcore any more.
    unsafe { environment.scope_closed() };
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("id", &self.id.get()).finish()
    }
}
