// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Timers: closures that an lcore calls at a given time.
//!
//! Timers do not run by themselves: an lcore calls the closures of its expired timers when its loop calls
//! [`TimerPoll::manage`], which checks no more often than the loop has chosen, or [`Timers::manage`], which checks each time.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let (eal, _args) = dpdk_rs::Eal::init(dpdk_rs::EalOptions::from_command_line())?;
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
//! let clock = eal.clock();
//! let mut poll = timers.poll_every(Duration::from_millis(1));
//! while seen.load(Ordering::Relaxed) < 3 {
//!     poll.manage(clock.now())?; // and what else the loop does
//! }
//! # Ok(())
//! # }
//! ```

use crate::{
    Clock, Eal, Errno, Tsc,
    callback::discard,
    environment::Environment,
    lcore::{self, LcoreId, Managing, Panicked},
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

/// Why a timer was not armed or stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TimerError {
    /// `rte_timer_subsystem_init` failed: `ENOMEM` means that there is no memory for the lists of timers.
    #[error("cannot create timers: {0}")]
    Init(Errno),
    /// `rte_timer_reset` or `rte_timer_stop` refused: another lcore is calling the closure, or another thread is arming
    /// the timer.
    #[error("the timer is in use: {call} refused")]
    Busy {
        /// The name of the DPDK function.
        call: &'static str,
    },
    /// The closure panicked, and is not called again.
    #[error("the timer's closure panicked: create another timer")]
    Ended,
    /// A child process created by `fork` has no timers: they belong to its parent.
    #[error("cannot use timers: this process is a fork of the one that initialized the EAL")]
    Forked,
}

impl TimerError {
    /// DPDK's error, if a DPDK call failed with one.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Init(errno) = self { Some(*errno) } else { None }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        match self {
            Self::Init(_) => Some("rte_timer_subsystem_init"),
            Self::Busy { call } => Some(call),
            Self::Ended | Self::Forked => None,
        }
    }
}

/// Why [`Timers::manage`] did not run all expired closures to their end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ManageError {
    /// Only lcores have timers, and this thread is not an lcore.
    #[error(
        "this thread is not an lcore: call manage in a closure on an lcore, or on the thread that initialized the EAL"
    )]
    NotAnLcore,
    /// The call was made in a timer's closure.
    #[error("the lcore is already calling a timer's closure")]
    Nested,
    /// A closure panicked. All expired closures were called. This is the payload of the first panic, and that closure
    /// is not called again.
    #[error(transparent)]
    Panicked(#[from] Panicked),
    /// A child process created by `fork` has no timers: they belong to its parent.
    #[error("cannot use timers: this process is a fork of the one that initialized the EAL")]
    Forked,
}

/// The timers of all lcores. A clone is the same object.
#[doc(alias = "rte_timer_subsystem_init")]
#[derive(Clone)]
pub struct Timers {
    shared: Arc<Shared>,
}

impl Timers {
    /// Initialises DPDK's timers.
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
            // DPDK's timers stay initialised until the EAL is cleaned up: drivers and libraries use them too.
            Err(errno) if errno.get() != sys::EALREADY as i32 => return Err(TimerError::Init(errno)),
            _ => (),
        }
        // SAFETY: the EAL is initialised, since the caller holds an `Eal`; the call reads a number.
        let hz = unsafe { sys::rte_get_timer_hz() };
        let shared =
            Shared { left: Mutex::default(), left_count: AtomicUsize::new(0), hz, eal: Arc::clone(environment) };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Creates a timer, initially not armed. An lcore calls `closure` each time the timer expires there.
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

    /// The timers for the loop of an lcore, which looks for expired timers every `resolution` and not in each round;
    /// see [`TimerPoll::manage`].
    #[must_use]
    pub fn poll_every(&self, resolution: Duration) -> TimerPoll {
        let resolution = Clock::of(&self.shared.eal).cycles(resolution);
        TimerPoll { timers: self.clone(), resolution, next: Tsc::from_cycles(0) }
    }

    /// Calls the closures of the timers that have expired on the calling thread's lcore. This takes a system call: a
    /// loop that polls queues uses [`Self::poll_every`].
    ///
    /// # Errors
    /// See [`ManageError`]: on a thread that is not an lcore, in a timer's closure, or if a closure panicked.
    #[doc(alias = "rte_timer_manage")]
    pub fn manage(&self) -> Result<(), ManageError> {
        let lcore = lcore::current().ok_or(ManageError::NotAnLcore)?;
        if self.shared.eal.is_forked() {
            return Err(ManageError::Forked);
        }
        let managing = Managing::begin().ok_or(ManageError::Nested)?;
        // SAFETY: the timers are initialised, since this object is created only after that. The thread is an lcore's,
        // and is not inside this call already. Every timer in the lists is live until it is stopped.
        unsafe { sys::rte_timer_manage() };
        drop(managing);
        // SAFETY: this thread has left the call that uses its lcore.
        unsafe { lcore::end_late() };
        self.shared.free_left();
        PANIC.take().map_or(Ok(()), |payload| Err(Panicked::new(lcore, payload).into()))
    }
}

impl fmt::Debug for Timers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timers").field("hz", &self.shared.hz).finish_non_exhaustive()
    }
}

/// The timers of one lcore's loop; from [`Timers::poll_every`].
///
/// DPDK's example `timer` does the same with its `TIMER_RESOLUTION_CYCLES`.
#[derive(Debug)]
pub struct TimerPoll {
    timers: Timers,
    /// Cycles between two calls of `rte_timer_manage`.
    resolution: u64,
    /// The time of the next call.
    next: Tsc,
}

impl TimerPoll {
    /// Calls [`Timers::manage`] the first time, and then each time the resolution has passed at `now`. Otherwise it
    /// only compares two numbers. So a closure is called at most one resolution, and one round of the loop, after its
    /// time.
    ///
    /// # Errors
    /// The errors of [`Timers::manage`].
    #[doc(alias = "rte_timer_manage")]
    #[inline]
    pub fn manage(&mut self, now: Tsc) -> Result<(), ManageError> {
        if now < self.next {
            return Ok(());
        }
        self.next = now.after(self.resolution);
        self.timers.manage()
    }
}

thread_local! {
    /// The payload of the first closure that panicked in this thread's call of `rte_timer_manage`.
    static PANIC: Cell<Option<Box<dyn Any + Send>>> = const { Cell::new(None) };
}

/// Shared by all timers.
struct Shared {
    /// Timers that were dropped while an lcore was calling their closure, or was about to.
    left: Mutex<Vec<Arc<Node>>>,
    /// The length of `left`.
    left_count: AtomicUsize,
    /// Ticks per second.
    hz: u64,
    eal: Arc<Environment>,
}

impl Shared {
    fn leave(&self, node: Arc<Node>) {
        lock(&self.left).push(node);
        self.left_count.fetch_add(1, Ordering::Relaxed);
    }

    /// Frees the dropped timers that no lcore uses any more.
    fn free_left(&self) {
        if self.left_count.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut left = lock(&self.left);
        let (stopped, used): (Vec<_>, Vec<_>) = left.drain(..).partition(|node| node.stop());
        self.left_count.store(used.len(), Ordering::Relaxed);
        *left = used;
        drop(left);
        // After releasing the lock: closures drop their captured values, which may be timers.
        drop(stopped);
    }

    /// A duration in ticks, at least one. The largest number of ticks is some hundred years.
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
        // An lcore still uses the timers in `left`, through other `Timers`: leak them.
        mem::take(&mut *lock(&self.left)).into_iter().for_each(mem::forget);
    }
}

/// A timer, which owns its closure; from [`Timers::timer`]. Dropping it stops it: the closure is not called again, but
/// a call that is running on another lcore continues to its end.
///
/// Its methods take `&self`, so that a closure can arm or stop its own timer.
#[doc(alias = "rte_timer")]
pub struct Timer {
    node: Arc<Node>,
    shared: Arc<Shared>,
}

impl Timer {
    /// Makes the lcore call the closure once, `after` from now. Replaces an earlier setting.
    ///
    /// # Errors
    /// [`TimerError::Busy`], [`TimerError::Ended`] or [`TimerError::Forked`].
    #[doc(alias = "rte_timer_reset")]
    pub fn arm(&self, lcore: LcoreId, after: Duration) -> Result<(), TimerError> {
        self.reset(lcore, after, sys::SINGLE)
    }

    /// Makes the lcore call the closure every `period`. Replaces an earlier setting.
    ///
    /// # Errors
    /// [`TimerError::Busy`], [`TimerError::Ended`] or [`TimerError::Forked`].
    #[doc(alias = "rte_timer_reset")]
    pub fn arm_periodic(&self, lcore: LcoreId, period: Duration) -> Result<(), TimerError> {
        self.reset(lcore, period, sys::PERIODICAL)
    }

    /// Stops the timer: the closure is not called again.
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

    /// Whether the timer is armed and its closure is not running.
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
        // SAFETY: the timers are initialised, since they created this timer, and the lcore is one that DPDK named. The
        // node, which DPDK passes to `expired`, lives until the timer is stopped.
        let result =
            unsafe { sys::rte_timer_reset(self.node.as_ptr(), ticks, kind, lcore.get(), Some(expired), argument) };
        if result == 0 { Ok(()) } else { Err(TimerError::Busy { call: "rte_timer_reset" }) }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if self.shared.eal.is_forked() {
            // The parent's lists, which may be in shared memory, refer to the node.
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

/// A DPDK timer with its closure. DPDK has pointers to it from when it is armed until it is stopped.
struct Node {
    timer: UnsafeCell<sys::rte_timer>,
    closure: Mutex<Box<dyn FnMut() + Send>>,
    /// Whether the closure must not be called again.
    ended: AtomicBool,
}

// SAFETY: only DPDK's calls change the timer, which any thread may make, and the closure is `Send`.
unsafe impl Send for Node {}
// SAFETY: only DPDK's calls change the timer, which lock it by its atomic state, and the closure has a lock.
unsafe impl Sync for Node {}

impl Node {
    const fn as_ptr(&self) -> *mut sys::rte_timer {
        self.timer.get()
    }

    /// Stops the timer. Returns false if another lcore is calling the closure, or is about to. DPDK has no pointer to a
    /// stopped timer.
    fn stop(&self) -> bool {
        // SAFETY: the timer lives as long as its node, and the timers are initialised, since they created it.
        unsafe { sys::rte_timer_stop(self.as_ptr()) == 0 }
    }

    fn call(&self) {
        if self.ended.load(Ordering::Acquire) {
            return;
        }
        let mut closure = lock(&self.closure);
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(&mut *closure)) {
            self.ended.store(true, Ordering::Release);
            // Inside its own call this succeeds, unless the closure has armed the timer for another lcore, which then
            // finds it ended.
            self.stop();
            keep(payload);
        }
    }
}

/// The function that DPDK calls on the lcore.
///
/// # Safety
/// `argument` points to a `Node` in an `Arc`, which another owner holds at the beginning of the call. The owner is what
/// armed the timer: it keeps the node until the timer is stopped, and this function is not called after that.
unsafe extern "C" fn expired(_: *mut sys::rte_timer, argument: *mut c_void) {
    let node = argument.cast::<Node>().cast_const();
    // SAFETY: the caller promises a node that somebody owns at this time.
    unsafe { Arc::increment_strong_count(node) };
    // SAFETY: the line above has counted this reference. So the closure outlives its own call, even if it drops its
    // timer.
    let node = unsafe { Arc::from_raw(node) };
    let ended = panic::catch_unwind(AssertUnwindSafe(move || {
        node.call();
        // If this is the last reference, the closure's captured values are dropped.
        drop(node);
    }));
    if let Err(payload) = ended {
        keep(payload);
    }
}

/// Keeps the first panic payload of a call of [`Timers::manage`].
fn keep(payload: Box<dyn Any + Send>) {
    match PANIC.take() {
        None => PANIC.set(Some(payload)),
        first => {
            PANIC.set(first);
            discard(payload);
        }
    }
}

/// Locks a mutex, poisoned or not: a closure that panics under its lock is not called again.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
