// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Closures on lcores, which may borrow from the caller's stack.

use super::LcoreId;
use crate::{Eal, Errno, callback::discard, eal::Environment};
use core::{
    any::Any,
    ffi::{c_int, c_void},
    fmt,
    marker::PhantomData,
    sync::atomic::{AtomicU8, Ordering},
};
use dpdk_sys as sys;
use std::{
    borrow::Cow,
    panic::{self, AssertUnwindSafe},
    process,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

/// Why a closure was not launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The main lcore runs the code that calls `scope`; call the function there instead of launching it.
    #[error("lcore {0} is the main lcore: call the function instead of launching it")]
    Main(LcoreId),
    /// `rte_eal_remote_launch` failed: the lcore still runs another closure (`EBUSY`).
    #[error("cannot launch on lcore {lcore}: {errno}{}", if errno.get() == 16 { ": join what it runs first" } else { "" })]
    Launch {
        /// The lcore.
        lcore: LcoreId,
        /// DPDK's error.
        errno: Errno,
    },
    /// A child made by `fork` has no lcores: they are threads of its parent.
    #[error("cannot launch on lcore {0}: this process is a fork of the one that initialized the EAL")]
    Forked(LcoreId),
}

impl LaunchError {
    /// DPDK's error, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Launch { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Launch { .. } = self { Some("rte_eal_remote_launch") } else { None }
    }
}

/// A closure ended by a panic. The payload is that of `std::thread::JoinHandle::join`.
///
/// It may be shared between threads, as `anyhow` and `tokio` want of errors.
pub struct Panicked {
    lcore: LcoreId,
    message: Cow<'static, str>,
    /// Only to be taken out: a payload need not be `Sync`, the lock makes it so.
    payload: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Panicked {
    /// A panic of a closure that DPDK has called on an lcore.
    pub(crate) fn new(lcore: LcoreId, payload: Box<dyn Any + Send>) -> Self {
        let message = if let Some(message) = payload.downcast_ref::<&'static str>() {
            Cow::Borrowed(*message)
        } else {
            payload.downcast_ref::<String>().map_or(Cow::Borrowed("no message"), |message| Cow::Owned(message.clone()))
        };
        Self { lcore, message, payload: Mutex::new(Some(payload)) }
    }

    /// Another join has returned the payload.
    const fn without_payload(lcore: LcoreId) -> Self {
        Self { lcore, message: Cow::Borrowed("no message"), payload: Mutex::new(None) }
    }

    /// The lcore on which it happened.
    #[must_use]
    pub const fn lcore(&self) -> LcoreId {
        self.lcore
    }

    /// What was passed to `panic!`, for `std::panic::resume_unwind`; `None` once a join has returned it.
    #[must_use]
    pub fn into_payload(self) -> Option<Box<dyn Any + Send>> {
        self.payload.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Panicked({self})")
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the closure on lcore {} panicked: {}", self.lcore, self.message)
    }
}

impl core::error::Error for Panicked {}

/// Runs `f`, which may launch closures on worker lcores, and waits for all of them.
///
/// The closures may borrow whatever outlives the call, as with [`std::thread::scope`].
///
/// ```no_run
/// use dpdk_rs::{Eal, lcore};
///
/// let (eal, _args) = Eal::init(std::env::args())?;
/// let greeting = "hello";
/// lcore::scope(&eal, |scope| {
///     for worker in eal.worker_lcores() {
///         scope.launch(worker.id(), move || println!("{greeting} from lcore {}", worker.id()))?;
///     }
///     Ok::<(), lcore::LaunchError>(())
/// })??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It waits also when `f` fails halfway, so closures that loop need to be told: see [`StopToken`](super::StopToken).
///
/// # Errors
/// [`Panicked`] if a closure panicked whose handle was not joined: the first one found.
///
/// # Panics
/// If `f` panics: after all closures have ended.
#[doc(alias = "rte_eal_remote_launch")]
#[doc(alias = "rte_eal_mp_wait_lcore")]
pub fn scope<'env, F, T>(eal: &'env Eal, f: F) -> Result<T, Panicked>
where
    F: for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> T,
{
    eal.environment().scope_opened();
    let scope = Scope {
        environment: eal.environment(),
        main: eal.main_lcore(),
        running: Mutex::new(Vec::new()),
        scope: PhantomData,
        env: PhantomData,
    };
    let result = panic::catch_unwind(AssertUnwindSafe(|| f(&scope)));
    let mut panics = scope.wait().into_iter();
    eal.environment().scope_closed();
    let first = panics.next();
    panics.for_each(discard);
    match result {
        Err(payload) => panic::resume_unwind(payload),
        Ok(value) => first.map_or(Ok(value), Err),
    }
}

/// What an lcore does, as far as `launch` knows.
pub(crate) struct Occupation(AtomicU8);

impl Occupation {
    /// Nothing was ever launched.
    const NONE: u8 = 0;
    const CLOSURE: u8 = 1;
    /// The closure has ended; the lcore is on its way out of DPDK's launch code, or has left it.
    const LEAVING: u8 = 2;

    pub(crate) const fn new() -> Self {
        Self(AtomicU8::new(Self::NONE))
    }

    /// Reserves the lcore for one more closure: what it did before, or `None` if it is busy.
    fn reserve(&self) -> Option<u8> {
        Some(self.0.swap(Self::CLOSURE, Ordering::AcqRel)).filter(|before| *before != Self::CLOSURE)
    }

    /// Reserves the lcore, once it has left DPDK's launch code; false if it is busy, or no worker of the EAL's: a thread of the
    /// program that is registered as an lcore takes no orders.
    pub(crate) fn claim(&self, lcore: LcoreId) -> bool {
        // SAFETY: the EAL is initialised, since its `Environment` has the occupations; the call looks the number up in a table.
        if unsafe { sys::rte_eal_lcore_role(lcore.get()) } != sys::ROLE_RTE {
            return false;
        }
        let before = self.reserve();
        if before == Some(Self::LEAVING) {
            // Its closure has ended, so whoever joined it may expect that the next one can be launched.
            // SAFETY: the lcore exists, since a closure was launched on it before. That closure has ended, so the wait
            // is short, and `reserve` keeps others from launching there meanwhile.
            unsafe { sys::rte_eal_wait_lcore(lcore.get()) };
        }
        before.is_some()
    }

    /// Gives the lcore free, which does nothing any more.
    pub(crate) fn release(&self) {
        self.set(Self::NONE);
    }

    fn is_leaving(&self) -> bool {
        self.0.load(Ordering::Acquire) == Self::LEAVING
    }

    fn set(&self, occupation: u8) {
        self.0.store(occupation, Ordering::Release);
    }
}

/// Launches closures on lcores; passed to the closure of [`scope`].
pub struct Scope<'scope, 'env: 'scope> {
    environment: &'env Environment,
    main: LcoreId,
    running: Mutex<Vec<(LcoreId, Arc<Ending>)>>,
    scope: PhantomData<&'scope mut &'scope ()>,
    env: PhantomData<&'env mut &'env ()>,
}

impl<'scope> Scope<'scope, '_> {
    /// Runs `f` on a worker lcore.
    ///
    /// # Errors
    /// [`LaunchError::Main`] for the main lcore, [`LaunchError::Launch`] for one that is busy, [`LaunchError::Forked`] in a
    /// child made by `fork`.
    pub fn launch<F, T>(&'scope self, lcore: LcoreId, f: F) -> Result<JoinHandle<'scope, T>, LaunchError>
    where
        F: FnOnce() -> T + Send + 'scope,
        T: Send + 'scope,
    {
        if lcore == self.main {
            return Err(LaunchError::Main(lcore));
        }
        if self.environment.is_forked() {
            return Err(LaunchError::Forked(lcore));
        }
        let busy = LaunchError::Launch { lcore, errno: Errno::BUSY };
        let free = self.environment.occupation(lcore).filter(|occupation| occupation.claim(lcore));
        let occupation = free.ok_or(busy)?;
        let handle = JoinHandle { lcore, value: Arc::default(), ending: Arc::default(), scope: PhantomData };
        let (value, ending) = (Arc::clone(&handle.value), Arc::clone(&handle.ending));
        let task: Task<'scope> = Box::new(move || {
            let result = panic::catch_unwind(AssertUnwindSafe(move || {
                *lock(&value) = Some(f());
                // Here, since the scope may end right after: the value can borrow from it, and its drop can panic.
                drop(value);
            }));
            occupation.set(Occupation::LEAVING);
            ending.set(result.err());
        });
        // One allocation more than a thin pointer needs, once per launch.
        let argument = Box::into_raw(Box::new(task)).cast::<c_void>();
        let control = self.environment.control();
        // SAFETY: the lcore is another thread's, and was reserved for this closure. `run` takes back the box that
        // `argument` points to, and `scope` waits for the lcore before 'scope ends.
        let result = unsafe { sys::rte_eal_remote_launch(Some(run), argument, lcore.get()) };
        drop(control);
        if let Err(errno) = Errno::check(result) {
            occupation.release();
            // SAFETY: DPDK refused the launch and kept nothing, so the box of a few lines before is still ours.
            drop(unsafe { Box::from_raw(argument.cast::<Task<'scope>>()) });
            return Err(LaunchError::Launch { lcore, errno });
        }
        lock(&self.running).push((lcore, Arc::clone(&handle.ending)));
        Ok(handle)
    }

    /// Waits for every closure; the panics that nobody has joined. No payload is dropped here: that can panic.
    fn wait(&self) -> Vec<Panicked> {
        if self.environment.is_forked() {
            // The closures run in the parent, and borrow from its memory.
            return Vec::new();
        }
        let mut ended = Vec::new();
        // One at a time: a closure may launch more of them.
        while let Some((lcore, ending)) = self.pop_running() {
            ending.wait();
            if self.environment.occupation(lcore).is_some_and(Occupation::is_leaving) {
                // SAFETY: the lcore exists, since this scope launched a closure on it. That closure has ended, so the
                // lcore leaves DPDK's launch code soon.
                unsafe { sys::rte_eal_wait_lcore(lcore.get()) };
            }
            ended.push((lcore, ending));
        }
        // Only now: as long as one of them runs, it may join another.
        ended.into_iter().filter_map(|(lcore, ending)| ending.take_panic(lcore)).collect()
    }

    fn pop_running(&self) -> Option<(LcoreId, Arc<Ending>)> {
        lock(&self.running).pop()
    }
}

impl fmt::Debug for Scope<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope").field("main", &self.main).finish_non_exhaustive()
    }
}

type Task<'scope> = Box<dyn FnOnce() + Send + 'scope>;

/// What DPDK calls on the lcore.
///
/// # Safety
/// `argument` is a `Box<Task>` that was made into a pointer for this one call, and the call ends within the task's 'scope;
/// `launch` and `scope` see to that.
unsafe extern "C" fn run(argument: *mut c_void) -> c_int {
    // SAFETY: the caller passes on the box that `launch` made for this one call. Its lifetime is shortened to the call,
    // which ends within 'scope.
    let task = unsafe { Box::from_raw(argument.cast::<Task<'_>>()) };
    // The task catches the closure's panic; what is left to panic is the drop of a value that nobody joined.
    match panic::catch_unwind(AssertUnwindSafe(task)) {
        Ok(()) => 0,
        Err(payload) => {
            discard(payload);
            -1
        }
    }
}

/// Waits for a closure on an lcore, as [`std::thread::ScopedJoinHandle`] does for a thread. Dropping it does not: the
/// scope does.
pub struct JoinHandle<'scope, T> {
    lcore: LcoreId,
    value: Arc<Mutex<Option<T>>>,
    ending: Arc<Ending>,
    scope: PhantomData<&'scope ()>,
}

impl<T> JoinHandle<'_, T> {
    /// Waits for the closure and returns its value.
    ///
    /// # Errors
    /// [`Panicked`] if it panicked, or if it goes on in the process that this one was forked from.
    pub fn join(self) -> Result<T, Panicked> {
        if !self.ending.wait() {
            return Err(Panicked::new(self.lcore, Box::new("it runs in the parent of this process")));
        }
        let value = lock(&self.value).take();
        value.ok_or_else(|| self.ending.take_panic(self.lcore).unwrap_or_else(|| Panicked::without_payload(self.lcore)))
    }

    /// The lcore it runs on.
    #[must_use]
    pub const fn lcore(&self) -> LcoreId {
        self.lcore
    }

    /// Whether the closure has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.ending.ended()
    }
}

impl<T> fmt::Debug for JoinHandle<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("lcore", &self.lcore).finish_non_exhaustive()
    }
}

/// How a closure ended. It borrows nothing, so that the scope can hold it to its end.
struct Ending {
    /// The process that has the lcore.
    process: u32,
    state: Mutex<EndingState>,
    changed: Condvar,
}

impl Default for Ending {
    fn default() -> Self {
        Self { process: process::id(), state: Mutex::default(), changed: Condvar::new() }
    }
}

#[derive(Default)]
struct EndingState {
    ended: bool,
    panic: Option<Box<dyn Any + Send>>,
}

impl Ending {
    fn set(&self, panic: Option<Box<dyn Any + Send>>) {
        *lock(&self.state) = EndingState { ended: true, panic };
        self.changed.notify_all();
    }

    /// Waits for the end. False in a child made by `fork`, unless the end came before: there nobody would report it.
    fn wait(&self) -> bool {
        if process::id() != self.process {
            return self.ended();
        }
        let mut state = lock(&self.state);
        while !state.ended {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        true
    }

    fn ended(&self) -> bool {
        // Whoever holds the lock is about to end the closure, or was when this process was forked from its.
        self.state.try_lock().is_ok_and(|state| state.ended)
    }

    fn take_panic(&self, lcore: LcoreId) -> Option<Panicked> {
        let payload = lock(&self.state).panic.take()?;
        Some(Panicked::new(lcore, payload))
    }
}

/// Locks; no code that can panic runs under these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
