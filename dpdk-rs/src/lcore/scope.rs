// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Closures on lcores, which may borrow from the caller's stack.

use super::LcoreId;
use crate::{
    Eal, Errno,
    callback::discard,
    environment::{Environment, Occupation},
    log,
};
use core::{
    any::Any,
    ffi::{c_int, c_void},
    fmt,
    marker::PhantomData,
    time::Duration,
};
use dpdk_sys as sys;
use std::{
    borrow::Cow,
    panic::{self, AssertUnwindSafe},
    process,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// How long a scope waits for its lcores before it logs a warning: longer than a loop takes to end after it was
/// stopped.
const SILENCE: Duration = Duration::from_secs(1);

/// Why a closure was not launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The main lcore runs the code that calls `scope`. Call the function there instead of launching it.
    #[error("lcore {0} is the main lcore: call the function instead of launching it")]
    Main(LcoreId),
    /// `rte_eal_remote_launch` failed: the lcore still runs another closure (`EBUSY`).
    #[error("cannot launch on lcore {lcore}: {errno}{}", if errno.get() == 16 { ": join its closure first" } else { "" })]
    Launch {
        /// The lcore.
        lcore: LcoreId,
        /// DPDK's error.
        errno: Errno,
    },
    /// A child process created by `fork` has no lcores: they are threads of its parent.
    #[error("cannot launch on lcore {0}: this process is a fork of the one that initialized the EAL")]
    Forked(LcoreId),
}

impl LaunchError {
    /// DPDK's error, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Launch { errno, .. } = self { Some(*errno) } else { None }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Launch { .. } = self { Some("rte_eal_remote_launch") } else { None }
    }
}

/// A closure panicked. The payload is the one that `std::thread::JoinHandle::join` would return.
///
/// The type is `Sync`, as `anyhow` and `tokio` require of errors.
pub struct Panicked {
    lcore: LcoreId,
    message: Cow<'static, str>,
    /// Only ever taken out. A payload need not be `Sync`, but a mutex of it is.
    payload: Mutex<Option<Box<dyn Any + Send>>>,
}

impl Panicked {
    /// The panic of a closure that DPDK has called on an lcore.
    pub(crate) fn new(lcore: LcoreId, payload: Box<dyn Any + Send>) -> Self {
        let message = if let Some(message) = payload.downcast_ref::<&'static str>() {
            Cow::Borrowed(*message)
        } else {
            payload.downcast_ref::<String>().map_or(Cow::Borrowed("no message"), |message| Cow::Owned(message.clone()))
        };
        Self { lcore, message, payload: Mutex::new(Some(payload)) }
    }

    /// A panic whose payload another join has returned.
    const fn without_payload(lcore: LcoreId) -> Self {
        Self { lcore, message: Cow::Borrowed("no message"), payload: Mutex::new(None) }
    }

    /// The lcore of the closure.
    #[must_use]
    pub const fn lcore(&self) -> LcoreId {
        self.lcore
    }

    /// The value passed to `panic!`, for `std::panic::resume_unwind`; `None` if a join has already returned it.
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
/// use dpdk_rs::{Eal, EalOptions, lcore};
///
/// let (eal, _args) = Eal::init(EalOptions::from_command_line())?;
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
/// It also waits if `f` fails halfway, so closures that loop need a signal to end: see [`StopToken`](super::StopToken).
/// Until they end, the error of `f` is not returned either. After a second of waiting, a warning in DPDK's
/// [log](crate::log) therefore lists the lcores; an `f` that ends by joining its closures does not cause one.
///
/// # Errors
/// [`Panicked`] if a closure that was not joined has panicked. If several have, the first one found.
///
/// # Panics
/// If `f` panics. The panic continues after all closures have ended.
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
    // SAFETY: the scope was counted at the start of this function, and all its closures have ended.
    unsafe { eal.environment().scope_closed() };
    let first = panics.next();
    panics.for_each(discard);
    match result {
        Err(payload) => panic::resume_unwind(payload),
        Ok(value) => first.map_or(Ok(value), Err),
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
    /// [`LaunchError::Main`] for the main lcore, [`LaunchError::Launch`] if the lcore is busy, [`LaunchError::Forked`]
    /// in a child process created by `fork`.
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
        let free =
            self.environment.occupation(lcore).filter(|occupation| occupation.claim(lcore, self.environment.control()));
        let occupation = free.ok_or(busy)?;
        let handle = JoinHandle { lcore, value: Arc::default(), ending: Arc::default(), scope: PhantomData };
        let (value, ending) = (Arc::clone(&handle.value), Arc::clone(&handle.ending));
        let task: Task<'scope> = Box::new(move || {
            let result = panic::catch_unwind(AssertUnwindSafe(move || {
                *lock(&value) = Some(f());
                // Dropped here, since the scope may end right after: the value can borrow from the scope, and its drop
                // can panic.
                drop(value);
            }));
            occupation.set(Occupation::LEAVING);
            ending.set(result.err());
        });
        // One more allocation than a thin pointer would need, once per launch.
        let argument = Box::into_raw(Box::new(task)).cast::<c_void>();
        let control = self.environment.control();
        // SAFETY: the lcore belongs to another thread and was reserved for this closure. `run` takes back the box that
        // `argument` points to, and `scope` waits for the lcore before 'scope ends.
        let result = unsafe { sys::rte_eal_remote_launch(Some(run), argument, lcore.get()) };
        drop(control);
        if let Err(errno) = Errno::check(result) {
            occupation.release();
            // SAFETY: DPDK rejected the launch and keeps no pointer, so this function still owns the box from a few
            // lines above.
            drop(unsafe { Box::from_raw(argument.cast::<Task<'scope>>()) });
            return Err(LaunchError::Launch { lcore, errno });
        }
        lock(&self.running).push((lcore, Arc::clone(&handle.ending)));
        Ok(handle)
    }

    /// Waits for every closure. Returns the panics that nobody has joined. No payload is dropped here, since its drop
    /// can panic.
    fn wait(&self) -> Vec<Panicked> {
        if self.environment.is_forked() {
            // The closures run in the parent process, and borrow from its memory.
            return Vec::new();
        }
        let mut ended = Vec::new();
        let mut warn_at = Some(Instant::now() + SILENCE);
        // One at a time, since a closure may launch more.
        while let Some((lcore, ending)) = self.pop_running() {
            if warn_at.take_if(|time| !ending.wait_until(*time)).is_some() {
                self.warn(lcore);
            }
            ending.wait();
            if self.environment.occupation(lcore).is_some_and(Occupation::is_leaving) {
                // SAFETY: the lcore exists, since this scope launched a closure on it. That closure has ended, so the
                // lcore soon leaves DPDK's launch code.
                unsafe { sys::rte_eal_wait_lcore(lcore.get()) };
            }
            ended.push((lcore, ending));
        }
        // Only now: a running closure may join another one.
        ended.into_iter().filter_map(|(lcore, ending)| ending.take_panic(lcore)).collect()
    }

    /// Logs which lcores the scope waits for: this one, and the others whose closures have not ended.
    fn warn(&self, lcore: LcoreId) {
        let running = lock(&self.running);
        let others = running.iter().filter(|(_, ending)| !ending.ended()).map(|(lcore, _)| *lcore);
        let mut lcores: Vec<LcoreId> = others.chain([lcore]).collect();
        drop(running);
        lcores.sort_unstable();
        let names: Vec<String> = lcores.iter().map(LcoreId::to_string).collect();
        log::warn(&format!(
            "lcore::scope: its closure has ended, with or without an error, and it waits for the closures on lcores {}: \
             if they loop, stop them, for example with StopToken::stop_on_drop",
            names.join(", ")
        ));
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

/// The function that DPDK calls on the lcore.
///
/// # Safety
/// `argument` is a `Box<Task>` that was converted to a pointer for this one call, and the call ends within the task's
/// 'scope. `launch` and `scope` ensure both.
unsafe extern "C" fn run(argument: *mut c_void) -> c_int {
    // SAFETY: the caller passes on the box that `launch` created for this one call. Its lifetime is shortened to the
    // call, which ends within 'scope.
    let task = unsafe { Box::from_raw(argument.cast::<Task<'_>>()) };
    // The task catches the closure's panic. Only the drop of a value that nobody joined can still panic.
    match panic::catch_unwind(AssertUnwindSafe(task)) {
        Ok(()) => 0,
        Err(payload) => {
            discard(payload);
            -1
        }
    }
}

/// A handle to wait for a closure on an lcore, as [`std::thread::ScopedJoinHandle`] is for a thread. Dropping it does
/// not wait; the scope does.
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
    /// [`Panicked`] if the closure panicked, or if it runs in the parent of this process.
    pub fn join(self) -> Result<T, Panicked> {
        if !self.ending.wait() {
            return Err(Panicked::new(self.lcore, Box::new("it runs in the parent of this process")));
        }
        let value = lock(&self.value).take();
        value.ok_or_else(|| self.ending.take_panic(self.lcore).unwrap_or_else(|| Panicked::without_payload(self.lcore)))
    }

    /// The lcore on which the closure runs.
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

/// The outcome of a closure. It borrows nothing, so the scope can keep it until its end.
struct Ending {
    /// The process that owns the lcore.
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

    /// Waits for the end. Returns false in a child process created by `fork`, unless the end came before: nobody would
    /// report it there.
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

    /// Waits for the end until `time` at most. Returns whether the closure has ended.
    fn wait_until(&self, time: Instant) -> bool {
        let left = time.saturating_duration_since(Instant::now());
        let waited = self.changed.wait_timeout_while(lock(&self.state), left, |state| !state.ended);
        waited.unwrap_or_else(PoisonError::into_inner).0.ended
    }

    fn ended(&self) -> bool {
        // The thread that holds the lock is ending the closure, or was doing so when this process was forked.
        self.state.try_lock().is_ok_and(|state| state.ended)
    }

    fn take_panic(&self, lcore: LcoreId) -> Option<Panicked> {
        let payload = lock(&self.state).panic.take()?;
        Some(Panicked::new(lcore, payload))
    }
}

/// Locks a mutex. No code that can panic runs under these locks.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
