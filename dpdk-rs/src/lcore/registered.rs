// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Threads of the program itself as lcores.

use super::{LcoreId, current};
use crate::{Errno, eal::Environment, timer};
use core::{cell::Cell, fmt, marker::PhantomData, mem};
use dpdk_sys as sys;
use std::sync::Arc;

/// Why a thread did not become an lcore.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// It is one already.
    #[error("this thread is lcore {0} already")]
    IsLcore(LcoreId),
    /// A child made by `fork` has no lcores: they are its parent's.
    #[error("cannot register a thread: this process is a fork of the one that initialized the EAL")]
    Forked,
    /// `rte_thread_register` failed: `ENOMEM` if all numbers of lcores are in use, `EINVAL` if a
    /// [secondary process](crate::secondary) has attached to this one.
    #[error("cannot register the thread as an lcore: {0}")]
    Register(Errno),
}

/// Makes lcores of threads that the EAL did not make, such as those of [`std::thread`] or of an asynchronous runtime; from
/// [`Eal::registrar`](crate::Eal::registrar). A clone is the same.
///
/// Pools then keep mbufs for them as for the EAL's own lcores, which about halves what it takes to allocate and free one.
///
/// ```no_run
/// let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
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

    /// Makes the calling thread an lcore, with a number that no other has, until the result is dropped.
    ///
    /// # Errors
    /// See [`RegisterError`].
    #[doc(alias = "rte_thread_register")]
    pub fn register(&self) -> Result<Registered, RegisterError> {
        if self.environment.is_forked() {
            return Err(RegisterError::Forked);
        }
        // DPDK would give the thread a second number, and never take the first one back.
        if let Some(lcore) = current() {
            return Err(RegisterError::IsLcore(lcore));
        }
        // From here on the thread may be inside DPDK with a number of its own, as in a scope.
        self.environment.scope_opened();
        let control = self.environment.control();
        // SAFETY: the EAL is initialised, and stays so as long as the `Environment` lives; the thread is no lcore yet.
        let result = unsafe { sys::rte_thread_register() };
        let errno = Errno::last();
        drop(control);
        match current() {
            Some(id) if result >= 0 => {
                Ok(Registered { environment: Arc::clone(&self.environment), id, thread: PhantomData })
            }
            _ => {
                self.environment.scope_closed();
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

/// The thread that this is on is an lcore; made by [`Registrar::register`], ended by its drop. In the closure of a timer it ends when
/// [`Timers::manage`](crate::timer::Timers::manage) returns.
#[doc(alias = "rte_thread_unregister")]
pub struct Registered {
    environment: Arc<Environment>,
    id: LcoreId,
    thread: PhantomData<*const StaysOnItsThread>,
}

/// A pointer to this is neither `Send` nor `Sync`, and the compiler's message says why.
struct StaysOnItsThread;

impl Registered {
    /// Its number.
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
        if !timer::is_managing() {
            // SAFETY: this is the thread that was registered, since a `Registered` cannot leave it, and it is so once.
            unsafe { unregister(&environment) };
            return;
        }
        // DPDK goes on with the timers of this lcore once their closure returns: nobody else may be that lcore before.
        let late = LATE.try_with(|late| late.set(Some(Arc::clone(&environment))));
        if late.is_err() {
            // The thread's own memory is going. It stays an lcore, which nobody else becomes.
            mem::forget(environment);
        }
    }
}

thread_local! {
    /// This thread is an lcore until it comes out of `rte_timer_manage`.
    static LATE: Cell<Option<Arc<Environment>>> = const { Cell::new(None) };
}

/// Makes this thread an lcore no more if that has waited for the end of `rte_timer_manage`.
pub(crate) fn end_late() {
    if let Ok(Some(environment)) = LATE.try_with(Cell::take) {
        // SAFETY: this is the thread that was registered, whose `Registered` has left it to this function.
        unsafe { unregister(&environment) };
    }
}

/// Makes the calling thread an lcore no more.
///
/// # Safety
/// The thread was registered, and is not inside a call of DPDK that works for its lcore.
unsafe fn unregister(environment: &Environment) {
    let control = environment.control();
    // SAFETY: the caller promises a thread that was registered.
    unsafe { sys::rte_thread_unregister() };
    drop(control);
    environment.scope_closed();
}

impl fmt::Debug for Registered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registered").field("id", &self.id.get()).finish()
    }
}
