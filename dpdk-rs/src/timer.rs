// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Timers: closures that an lcore calls at a time.
//!
//! Nothing happens by itself: an lcore calls what has expired on it when it calls [`Timers::manage`], which its loop does
//! every now and then.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (eal, _args) = dpdk_rs::Eal::init(std::env::args())?;
//! use dpdk_rs::timer::Timers;
//! use std::{sync::{Arc, atomic::{AtomicU32, Ordering}}, time::Duration};
//!
//! let timers = Timers::new(&eal)?;
//! let ticks = Arc::new(AtomicU32::new(0));
//! let seen = Arc::clone(&ticks);
//! let timer = timers.timer(move || {
//!     ticks.fetch_add(1, Ordering::Relaxed);
//! });
//! timer.arm_periodic(eal.main_lcore(), Duration::from_millis(10))?;
//! while seen.load(Ordering::Relaxed) < 3 {
//!     timers.manage()?;
//! }
//! # Ok(())
//! # }
//! ```

use crate::{
    Eal, Errno,
    callback::discard,
    eal::Environment,
    lcore::{self, LcoreId, Panicked},
};
use core::{
    any::Any,
    cell::{Cell, UnsafeCell},
    ffi::c_void,
    fmt, mem,
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    time::Duration,
};
use dpdk_sys as sys;
use std::{
    panic::{self, AssertUnwindSafe},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Why a timer was not set or stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimerError {
    /// `rte_timer_subsystem_init` failed: there is no memory for the lists of timers (`ENOMEM`).
    #[error("cannot make timers: {0}")]
    Init(Errno),
    /// `rte_timer_reset` or `rte_timer_stop` refused: another lcore is calling the closure, or another thread is setting
    /// the timer.
    #[error("the timer is in use: {call} refused")]
    Busy {
        /// The call.
        call: &'static str,
    },
    /// The closure panicked, and is not called again.
    #[error("the timer's closure panicked: make another timer")]
    Ended,
    /// A child made by `fork` has no timers: they are its parent's.
    #[error("cannot use timers: this process is a fork of the one that initialized the EAL")]
    Forked,
}

impl TimerError {
    /// DPDK's error, if a call of DPDK failed with one.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Init(errno) = self { Some(*errno) } else { None }
    }

    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        match self {
            Self::Init(_) => Some("rte_timer_subsystem_init"),
            Self::Busy { call } => Some(call),
            Self::Ended | Self::Forked => None,
        }
    }
}

/// Why an lcore did not call all closures to their end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManageError {
    /// Only lcores have timers, and this thread is none.
    #[error("this thread is no lcore: call it in a closure on an lcore, or on the thread that initialized the EAL")]
    NotAnLcore,
    /// A timer's closure cannot have others be called.
    #[error("the lcore is calling a timer's closure already")]
    Nested,
    /// A closure panicked: the first one that did. All that had expired were called, and this one is not called again.
    #[error(transparent)]
    Panicked(#[from] Panicked),
    /// A child made by `fork` has no timers: they are its parent's.
    #[error("cannot use timers: this process is a fork of the one that initialized the EAL")]
    Forked,
}

/// The timers of all lcores. A clone is the same.
#[doc(alias = "rte_timer_subsystem_init")]
#[derive(Clone)]
pub struct Timers {
    shared: Arc<Shared>,
}

impl Timers {
    /// Readies DPDK's timers.
    ///
    /// # Errors
    /// [`TimerError::Init`] or [`TimerError::Forked`].
    #[doc(alias = "rte_timer_subsystem_init")]
    pub fn new(eal: &Eal) -> Result<Self, TimerError> {
        let environment = eal.environment();
        if environment.is_forked() {
            return Err(TimerError::Forked);
        }
        let control = environment.control();
        // SAFETY: the EAL is initialised, since the caller holds an `Eal`, and the control plane is locked.
        let result = unsafe { sys::rte_timer_subsystem_init() };
        drop(control);
        match Errno::check(result) {
            // They stay ready until the EAL is cleaned up: drivers and others use them too.
            Err(errno) if errno.get() != sys::EALREADY as i32 => return Err(TimerError::Init(errno)),
            _ => (),
        }
        // SAFETY: the EAL is initialised, since the caller holds an `Eal`; the call reads a number.
        let hz = unsafe { sys::rte_get_timer_hz() };
        let shared =
            Shared { left: Mutex::default(), left_count: AtomicUsize::new(0), hz, eal: Arc::clone(environment) };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// A timer that is not set yet. An lcore calls `closure` whenever it expires there.
    #[doc(alias = "rte_timer_init")]
    pub fn timer(&self, closure: impl FnMut() + Send + 'static) -> Timer {
        let node = Node {
            timer: UnsafeCell::default(),
            closure: Mutex::new(Box::new(closure)),
            ended: AtomicBool::new(false),
        };
        // SAFETY: the timer is new, so nobody else uses it; the call writes its fields.
        unsafe { sys::rte_timer_init(node.as_ptr()) };
        Timer { node: Arc::new(node), shared: Arc::clone(&self.shared) }
    }

    /// Calls the closures of the timers that have expired on the calling thread's lcore. It takes a system call, so do it
    /// every so many microseconds, and not for every packet.
    ///
    /// # Errors
    /// See [`ManageError`]: on a thread that is no lcore, in a timer's closure, and if a closure panicked.
    #[doc(alias = "rte_timer_manage")]
    pub fn manage(&self) -> Result<(), ManageError> {
        let lcore = lcore::current().ok_or(ManageError::NotAnLcore)?;
        if self.shared.eal.is_forked() {
            return Err(ManageError::Forked);
        }
        let managing = Managing::begin().ok_or(ManageError::Nested)?;
        // SAFETY: the timers are ready, since this object is made only after that; the thread is an lcore's, and not inside
        // this call already. Every timer in the lists is live until it is stopped.
        unsafe { sys::rte_timer_manage() };
        drop(managing);
        lcore::end_late();
        self.shared.free_left();
        PANIC.take().map_or(Ok(()), |payload| Err(Panicked::new(lcore, payload).into()))
    }
}

impl fmt::Debug for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timers").field("hz", &self.shared.hz).finish_non_exhaustive()
    }
}

thread_local! {
    /// Whether this thread is inside `rte_timer_manage`, which must not be called again there.
    static MANAGING: Cell<bool> = const { Cell::new(false) };

    /// What the first closure that panicked in this thread's call of `rte_timer_manage` panicked with.
    static PANIC: Cell<Option<Box<dyn Any + Send>>> = const { Cell::new(None) };
}

/// Whether this thread is inside `rte_timer_manage`, which goes on with the timers of its lcore.
pub(crate) fn is_managing() -> bool {
    MANAGING.get()
}

/// A call of `rte_timer_manage`.
struct Managing(());

impl Managing {
    /// `None` if this thread is inside one.
    fn begin() -> Option<Self> {
        // Made only then: its drop says that the call is over.
        (!MANAGING.replace(true)).then(|| Self(()))
    }
}

impl Drop for Managing {
    fn drop(&mut self) {
        MANAGING.set(false);
    }
}

/// What all timers share.
struct Shared {
    /// Timers that were dropped while an lcore was calling their closure, or about to.
    left: Mutex<Vec<Arc<Node>>>,
    /// How many these are.
    left_count: AtomicUsize,
    /// Ticks a second.
    hz: u64,
    eal: Arc<Environment>,
}

impl Shared {
    fn leave(&self, node: Arc<Node>) {
        lock(&self.left).push(node);
        self.left_count.fetch_add(1, Ordering::Relaxed);
    }

    /// Frees the timers that no lcore uses any more.
    fn free_left(&self) {
        if self.left_count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut left = lock(&self.left);
        let (stopped, used): (Vec<_>, Vec<_>) = left.drain(..).partition(|node| node.stop());
        self.left_count.store(used.len(), Ordering::Relaxed);
        *left = used;
        drop(left);
        // Without the lock: closures drop what they have captured, which may be timers.
        drop(stopped);
    }

    /// How many ticks a time takes, at least one. What does not fit is some hundred years.
    fn ticks(&self, time: Duration) -> u64 {
        let ticks = u128::from(self.hz) * time.as_nanos() / 1_000_000_000;
        u64::try_from(ticks).unwrap_or(u64::MAX).clamp(1, u64::MAX / 4)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if self.eal.is_forked() {
            return;
        }
        self.free_left();
        // An lcore uses those that are left, by way of other `Timers`: they live for ever.
        mem::take(&mut *lock(&self.left)).into_iter().for_each(mem::forget);
    }
}

/// A timer, which owns its closure; made by [`Timers::timer`]. Dropping it stops it: no further call of the closure begins,
/// and one that another lcore is in the middle of goes on to its end.
///
/// Its methods take `&self`, so that a closure may set or stop its own timer.
#[doc(alias = "rte_timer")]
pub struct Timer {
    node: Arc<Node>,
    shared: Arc<Shared>,
}

impl Timer {
    /// Has the lcore call the closure once, `after` a time, also if the timer was set before.
    ///
    /// # Errors
    /// [`TimerError::Busy`], [`TimerError::Ended`] or [`TimerError::Forked`].
    #[doc(alias = "rte_timer_reset")]
    pub fn arm(&self, lcore: LcoreId, after: Duration) -> Result<(), TimerError> {
        self.reset(lcore, after, sys::SINGLE)
    }

    /// Has the lcore call the closure every `period`, also if the timer was set before.
    ///
    /// # Errors
    /// [`TimerError::Busy`], [`TimerError::Ended`] or [`TimerError::Forked`].
    #[doc(alias = "rte_timer_reset")]
    pub fn arm_periodic(&self, lcore: LcoreId, period: Duration) -> Result<(), TimerError> {
        self.reset(lcore, period, sys::PERIODICAL)
    }

    /// Has nobody call the closure any more.
    ///
    /// # Errors
    /// [`TimerError::Busy`] if another lcore is calling it, or is about to; [`TimerError::Forked`].
    #[doc(alias = "rte_timer_stop")]
    pub fn stop(&self) -> Result<(), TimerError> {
        if self.shared.eal.is_forked() {
            return Err(TimerError::Forked);
        }
        if self.node.stop() { Ok(()) } else { Err(TimerError::Busy { call: "rte_timer_stop" }) }
    }

    /// Whether the timer is set, and its closure not being called.
    #[doc(alias = "rte_timer_pending")]
    #[must_use]
    pub fn is_pending(&self) -> bool {
        // SAFETY: the timer is live as long as its node; the call reads its state, which is atomic.
        unsafe { sys::rte_timer_pending(self.node.as_ptr()) != 0 }
    }

    fn reset(&self, lcore: LcoreId, time: Duration, kind: sys::rte_timer_type) -> Result<(), TimerError> {
        if self.shared.eal.is_forked() {
            return Err(TimerError::Forked);
        }
        if self.node.ended.load(Ordering::Acquire) {
            return Err(TimerError::Ended);
        }
        let argument = Arc::as_ptr(&self.node).cast_mut().cast();
        let ticks = self.shared.ticks(time);
        // SAFETY: the timers are ready, since they made this one, and the lcore is one that DPDK named. The node, which
        // `expired` is given, lives until the timer is stopped.
        let result =
            unsafe { sys::rte_timer_reset(self.node.as_ptr(), ticks, kind, lcore.get(), Some(expired), argument) };
        if result == 0 { Ok(()) } else { Err(TimerError::Busy { call: "rte_timer_reset" }) }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if self.shared.eal.is_forked() {
            // The parent's lists, which may be in shared memory, lead to it.
            mem::forget(Arc::clone(&self.node));
            return;
        }
        self.node.ended.store(true, Ordering::Release);
        if !self.node.stop() {
            self.shared.leave(Arc::clone(&self.node));
        }
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer").field("pending", &self.is_pending()).finish_non_exhaustive()
    }
}

/// A timer of DPDK's with its closure. DPDK has pointers to it from when it is set until it is stopped.
struct Node {
    timer: UnsafeCell<sys::rte_timer>,
    closure: Mutex<Box<dyn FnMut() + Send>>,
    /// Whether the closure is not to be called any more.
    ended: AtomicBool,
}

// SAFETY: the timer is changed by DPDK's calls alone, which any thread may make, and the closure is `Send`.
unsafe impl Send for Node {}
// SAFETY: the timer is changed by DPDK's calls alone, which lock it by its atomic state, and the closure has a lock.
unsafe impl Sync for Node {}

impl Node {
    const fn as_ptr(&self) -> *mut sys::rte_timer {
        self.timer.get()
    }

    /// Stops the timer; false if another lcore is calling the closure, or about to. Once it is stopped DPDK has no pointer
    /// to it any more.
    fn stop(&self) -> bool {
        // SAFETY: the timer is live as long as its node, and the timers are ready, since they made it.
        unsafe { sys::rte_timer_stop(self.as_ptr()) == 0 }
    }

    fn call(&self) {
        if self.ended.load(Ordering::Acquire) {
            return;
        }
        let mut closure = lock(&self.closure);
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(&mut *closure)) {
            self.ended.store(true, Ordering::Release);
            // From within its own call this succeeds, unless the closure has set it for another lcore: that finds it ended.
            self.stop();
            keep(payload);
        }
    }
}

/// What DPDK calls on the lcore.
///
/// # Safety
/// `argument` points to a `Node` in an `Arc` that somebody else has at the beginning of the call. The one that set the timer
/// sees to that: it keeps the node until the timer is stopped, and then this is not called any more.
unsafe extern "C" fn expired(_: *mut sys::rte_timer, argument: *mut c_void) {
    let node = argument.cast::<Node>().cast_const();
    // SAFETY: the caller promises a node that somebody has at this time.
    unsafe { Arc::increment_strong_count(node) };
    // SAFETY: the line before has counted this one. So the closure outlives its own call, also if it drops its timer.
    let node = unsafe { Arc::from_raw(node) };
    let ended = panic::catch_unwind(AssertUnwindSafe(move || {
        node.call();
        // If it is the last one, what the closure has captured is dropped.
        drop(node);
    }));
    if let Err(payload) = ended {
        keep(payload);
    }
}

/// Keeps the first payload of a call of [`Timers::manage`].
fn keep(payload: Box<dyn Any + Send>) {
    match PANIC.take() {
        None => PANIC.set(Some(payload)),
        first => {
            PANIC.set(first);
            discard(payload);
        }
    }
}

/// Locks. A closure that panics under its lock is not called again.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
