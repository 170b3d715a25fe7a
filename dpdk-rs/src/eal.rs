// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The environment abstraction layer: once per process, and last to go.

use crate::{
    Clock, Errno, Port,
    control::{ControlGuard, drop_unlocked},
    lcore::{Lcore, LcoreId, Occupation, Registrar},
    memory::Heap,
    port::{self, Unconfigured},
    service::Rounds,
};
use core::{
    ffi::{CStr, c_char, c_int},
    fmt,
    marker::PhantomData,
    mem::ManuallyDrop,
    ptr::{self, NonNull},
};
use dpdk_sys as sys;
use std::{
    ffi::CString,
    process,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering},
    },
    thread::{self, ThreadId},
};

/// Why the EAL did not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EalError {
    /// DPDK starts once in the life of a process, whether it succeeds or not.
    #[error(
        "the EAL was already initialized in this process, which can be done once: pass the Eal on; \
         tests that each want one need a process each"
    )]
    AlreadyInitialized,
    /// There is no argument, not even the program's name.
    #[error("no arguments: give at least the program's name")]
    NoArguments,
    /// An argument has a NUL byte.
    #[error("argument {0:?} contains a NUL byte")]
    Argument(String),
    /// The library that runs is of another release than the headers that this program was built with.
    #[error("built with DPDK {built}, but DPDK {running} is running: build again, or install DPDK {built}")]
    Version {
        /// Release of the headers, as `22.11`.
        built: String,
        /// Version of the library.
        running: String,
    },
    /// `rte_eal_init` failed; its log says more.
    ///
    /// The number is 0 where DPDK sets none, as where another process has the file prefix:
    /// [`diagnosis::of_start`](crate::diagnosis::of_start) says which.
    #[error("cannot initialize the EAL: {}", reason(*.0))]
    Init(Errno),
    /// Another process with the same file prefix is the primary one, and this one was started as secondary
    /// (`--proc-type`). Its ports and pools are the other's: see [`Secondary`](crate::secondary::Secondary).
    #[error("this process is a secondary one of DPDK: leave out --proc-type, and give another --file-prefix")]
    Secondary,
}

/// DPDK leaves its error number alone where another process has the file prefix, and 0 would read "Success".
pub(crate) fn reason(errno: Errno) -> String {
    if errno.get() == 0 { "what it has printed says why".to_owned() } else { errno.to_string() }
}

impl EalError {
    /// DPDK's error, if a call of DPDK failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Init(errno) = self { Some(*errno) } else { None }
    }

    /// The name of the call of DPDK that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Init(_) = self { Some("rte_eal_init") } else { None }
    }
}

/// The initialised environment. It stays on the thread that made it, which is DPDK's main lcore.
///
/// Everything made from it keeps it alive. It is cleaned up (`rte_eal_cleanup`) when the last of those is dropped, if that
/// happens on this thread, every mbuf is back in its pool and every port could be closed; otherwise clean-up is skipped and
/// logged, so that a leak never dangles.
///
/// A child made by `fork` inherits everything, and owns nothing: there the calls that configure, launch or make something
/// fail with errors named `Forked`, and drops leave the parent's devices and memory alone. What such a child must not
/// do is left to the `unsafe` code that forks: using the packets and queues of its parent.
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

/// A pointer to this is neither `Send` nor `Sync`, and the compiler's message says why.
struct StaysOnItsThread;

/// Set by the first call of [`Eal::init`], and never unset.
static STARTED: AtomicBool = AtomicBool::new(false);

/// Set when that call has returned from DPDK, whatever came of it.
static START_ENDED: AtomicBool = AtomicBool::new(false);

/// Whether the lists of buses and drivers are what they stay: only `rte_eal_init` adds to them.
pub(crate) fn start_ended() -> bool {
    START_ENDED.load(Ordering::Acquire)
}

impl Eal {
    /// Initialises the EAL from a command line: the program's name, the EAL's options, `--`, the program's own options.
    ///
    /// Returns the EAL and the program's own arguments: those before the first `--` that are not options of the EAL, and
    /// all behind it. Log messages go to stderr.
    ///
    /// ```no_run
    /// let (eal, args) = dpdk_rs::Eal::init(std::env::args())?;
    /// # Ok::<(), dpdk_rs::EalError>(())
    /// ```
    ///
    /// With the option `--help` DPDK prints its options and ends the process. From 25.11 on it ends the process too, after
    /// saying why on stderr, if it does not know an option or an option lacks its value.
    ///
    /// # Errors
    /// See [`EalError`]. After [`EalError::Init`] the process cannot try again.
    pub fn init<I>(args: I) -> Result<(Self, Vec<String>), EalError>
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        let (eal_args, own_args) = split(args);
        let mut rest = start_once(eal_args)?;
        rest.extend(own_args);
        if !is_primary() {
            // SAFETY: the EAL has just been initialised on this thread, and nothing was made from it.
            unsafe { sys::rte_eal_cleanup() };
            return Err(EalError::Secondary);
        }
        Ok((Self { environment: Arc::new(Environment::new(Role::Primary)), thread: PhantomData }, rest))
    }

    /// The ports that nobody has taken yet, in ascending order. Each is handed out once; one that is dropped before it
    /// was configured can be had again. None in a child made by `fork`: they are its parent's.
    #[doc(alias = "RTE_ETH_FOREACH_DEV")]
    #[must_use]
    pub fn ports(&self) -> Vec<Port<Unconfigured>> {
        port::take_all(&self.environment)
    }

    /// The time stamp counter.
    #[must_use]
    pub fn clock(&self) -> Clock {
        Clock::new(self)
    }

    /// Every enabled lcore, in ascending order.
    #[doc(alias = "RTE_LCORE_FOREACH")]
    #[must_use]
    pub fn lcores(&self) -> Vec<Lcore> {
        crate::lcore::enabled(self)
    }

    /// The enabled lcores other than the main one, in ascending order.
    #[doc(alias = "RTE_LCORE_FOREACH_WORKER")]
    #[must_use]
    pub fn worker_lcores(&self) -> Vec<Lcore> {
        let main = self.main_lcore();
        self.lcores().into_iter().filter(|lcore| lcore.id() != main).collect()
    }

    /// The main lcore: the one of this thread.
    #[doc(alias = "rte_get_main_lcore")]
    #[must_use]
    pub fn main_lcore(&self) -> LcoreId {
        // SAFETY: the EAL is initialised, since an `Eal` is made only after that; the call reads a number.
        LcoreId(unsafe { sys::rte_get_main_lcore() })
    }

    /// Makes lcores of threads that the EAL did not make.
    #[doc(alias = "rte_thread_register")]
    #[must_use]
    pub fn registrar(&self) -> Registrar {
        Registrar::new(Arc::clone(&self.environment))
    }

    /// DPDK's heap, for data of the program's own.
    #[doc(alias = "rte_malloc")]
    #[must_use]
    pub fn heap(&self) -> Heap {
        Heap::new(self)
    }

    /// Whether the EAL uses hugepages.
    #[doc(alias = "rte_eal_has_hugepages")]
    #[must_use]
    pub fn has_hugepages(&self) -> bool {
        // SAFETY: the EAL is initialised, since an `Eal` is made only after that; the call reads a flag.
        unsafe { sys::rte_eal_has_hugepages() != 0 }
    }

    pub(crate) const fn environment(&self) -> &Arc<Environment> {
        &self.environment
    }
}

impl Drop for Eal {
    fn drop(&mut self) {
        // Memory of a pool may be DPDK's own, and keep the environment alive for as long as it waits in there.
        if !self.environment.is_forked() {
            drop(self.environment.control_with_room());
        }
    }
}

impl fmt::Debug for Eal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eal").field("main_lcore", &self.main_lcore()).finish_non_exhaustive()
    }
}

/// A command line's arguments for the EAL, and the program's own, which follow the first `--`.
pub(crate) fn split<I>(args: I) -> (Vec<String>, Vec<String>)
where
    I: IntoIterator,
    I::Item: Into<String>,
{
    let mut args = args.into_iter().map(Into::into);
    let eal_args = args.by_ref().take_while(|arg| arg != "--").collect();
    (eal_args, args.collect())
}

/// Initialises the EAL, once in the life of the process; the arguments that it left.
pub(crate) fn start_once(args: Vec<String>) -> Result<Vec<String>, EalError> {
    if args.is_empty() {
        return Err(EalError::NoArguments);
    }
    let args = args
        .into_iter()
        .map(|arg| CString::new(arg.as_str()).map_err(|_| EalError::Argument(arg)))
        .collect::<Result<Vec<_>, _>>()?;
    check_version()?;
    if STARTED.swap(true, Ordering::SeqCst) {
        return Err(EalError::AlreadyInitialized);
    }
    start(args)
}

/// Whether this process is the primary one; for callers that have initialised the EAL.
pub(crate) fn is_primary() -> bool {
    // SAFETY: the call reads a number, which does not change once the EAL is initialised.
    unsafe { sys::rte_eal_process_type() == sys::RTE_PROC_PRIMARY }
}

/// What `rte_eal_init` was given. DPDK keeps pointers into it, and those who look for leaks find it here.
static ARGV: AtomicPtr<*mut c_char> = AtomicPtr::new(ptr::null_mut());

/// Calls `rte_eal_init`; the arguments that it left. The strings are leaked: DPDK keeps pointers into them.
fn start(args: Vec<CString>) -> Result<Vec<String>, EalError> {
    crate::log::begin();
    let mut argv: Vec<*mut c_char> = args.into_iter().map(CString::into_raw).collect();
    let argc = c_int::try_from(argv.len()).unwrap_or(c_int::MAX);
    argv.push(ptr::null_mut());
    // DPDK puts the program's name in the place of its last option: this list behind the other keeps that.
    argv.extend_from_within(..argv.len() - 1);
    let argv = argv.leak();
    ARGV.store(argv.as_mut_ptr(), Ordering::Relaxed);
    // SAFETY: `argv` holds `argc` strings and a null pointer, which this function has leaked: they live for ever and
    // nobody else writes them. `Eal::init` lets one call through in the life of the process.
    let result = crate::log::while_types_are_added(|| unsafe { sys::rte_eal_init(argc, argv.as_mut_ptr()) });
    START_ENDED.store(true, Ordering::Release);
    // The call moves what is not an option to the end, and counts what comes before without the program's name.
    let used = usize::try_from(result).map_err(|_| EalError::Init(Errno::last()))? + 1;
    let rest = argv.iter().skip(used).take_while(|arg| !arg.is_null());
    // SAFETY: DPDK only changes the order of `argv`, so what is left are some of the leaked strings.
    Ok(rest.map(|arg| unsafe { CStr::from_ptr(*arg) }.to_string_lossy().into_owned()).collect())
}

/// The bindings describe the headers; a library of another release may lay out its structs differently.
fn check_version() -> Result<(), EalError> {
    let built = format!("{}.{:02}", sys::DPDK_SYS_VERSION_YEAR, sys::DPDK_SYS_VERSION_MONTH);
    let running = running_version();
    if running.split('.').take(2).eq(built.split('.')) { Ok(()) } else { Err(EalError::Version { built, running }) }
}

pub(crate) fn running_version() -> String {
    // SAFETY: the call needs no EAL and returns a static string.
    let text = unsafe { sys::rte_version() };
    // SAFETY: `rte_version` returned a string that is static.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
    text.strip_prefix("DPDK ").unwrap_or(&text).to_owned()
}

const PORTS: usize = sys::RTE_MAX_ETHPORTS as usize;
const LCORES: usize = sys::RTE_MAX_LCORE as usize;

/// Whether a process owns DPDK's memory and devices, or uses those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Primary,
    Secondary,
}

/// What everything made from the EAL shares. Dropped last.
pub(crate) struct Environment {
    role: Role,
    /// The process that initialised it.
    process: u32,
    main_thread: ThreadId,
    /// How many `lcore::scope`s are open, and how many threads of the program are lcores.
    scopes: AtomicUsize,
    /// By lcore.
    occupations: [Occupation; LCORES],
    /// Every port was seen to read memory through the processor, as far as ports were there then.
    read_by_processor: AtomicBool,
    control: Mutex<Control>,
}

/// DPDK's control plane is not thread-safe, not even for two different devices: calls to it are made under this lock.
pub(crate) struct Control {
    /// Pools without a handle whose memory has not been given back yet.
    retired: Vec<Retired>,
    /// Ports that were handed out.
    pub(crate) taken: [bool; PORTS],
    /// Those of them that were configured, and not closed since.
    pub(crate) configured: [bool; PORTS],
    /// Ports that their drivers cannot close.
    pub(crate) left: Vec<String>,
}

/// Memory of the program in which the mbufs of a pool have their buffers; to be dropped when the pool has been freed. Whoever drops
/// this leaves it where it is, for mbufs may be left that lie in it.
pub(crate) type PoolMemory = ManuallyDrop<Option<Box<dyn Send + Sync>>>;

/// A pool without a handle.
struct Retired {
    pool: RawPool,
    /// What the buffers of its mbufs lie in, if not in the mbufs.
    memory: PoolMemory,
    /// Where DPDK's own service cores were when all mbufs were found to be back.
    full_since: Option<Rounds>,
}

impl Retired {
    /// Whether all mbufs are back, and nobody is on his way out of the call that has brought the last of them.
    fn is_at_rest(&mut self) -> bool {
        // SAFETY: a retired pool is live until it leaves the list, which its owner has locked.
        let full = unsafe { sys::dpdk_sys_mempool_full(self.pool.as_ptr()) } != 0;
        if !full {
            self.full_since = None;
            return false;
        }
        self.full_since.get_or_insert_with(Rounds::now).have_ended()
    }
}

/// A pool that has not been freed.
#[derive(Clone, Copy)]
pub(crate) struct RawPool(NonNull<sys::rte_mempool>);

// SAFETY: DPDK's pools are made to be used from any thread; this type gives no other access than their address.
unsafe impl Send for RawPool {}
// SAFETY: DPDK's pools are made to be used by several threads at once; a shared `RawPool` gives no more than their
// address.
unsafe impl Sync for RawPool {}

impl RawPool {
    pub(crate) const fn new(pool: NonNull<sys::rte_mempool>) -> Self {
        Self(pool)
    }

    #[inline]
    pub(crate) const fn as_ptr(self) -> *mut sys::rte_mempool {
        self.0.as_ptr()
    }
}

impl Environment {
    /// For the thread that has initialised the EAL.
    pub(crate) fn new(role: Role) -> Self {
        Self {
            role,
            process: process::id(),
            main_thread: thread::current().id(),
            scopes: AtomicUsize::new(0),
            occupations: [const { Occupation::new() }; LCORES],
            read_by_processor: AtomicBool::new(false),
            control: Mutex::new(Control {
                retired: Vec::new(),
                taken: [false; PORTS],
                configured: [false; PORTS],
                left: Vec::new(),
            }),
        }
    }

    /// Locks the control plane. A panic of another holder leaves nothing half-done that matters here.
    pub(crate) fn control(&self) -> ControlGuard<'_> {
        ControlGuard::new(self.control.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether this is a child made by `fork`: nothing here is its own, and a lock may be held by a thread that it lacks.
    pub(crate) fn is_forked(&self) -> bool {
        process::id() != self.process
    }

    /// The port that reads only memory of DPDK, if there is one: others read what the processor reads.
    pub(crate) fn reads_only_dpdk_memory(&self) -> Option<String> {
        if self.read_by_processor.load(Ordering::Acquire) {
            return None;
        }
        let control = self.control();
        let found = port::reads_only_dpdk_memory(&control);
        self.read_by_processor.store(found.is_none(), Ordering::Release);
        found
    }

    /// There is a new port.
    pub(crate) fn ports_have_changed(&self, _control: &ControlGuard<'_>) {
        self.read_by_processor.store(false, Ordering::Release);
    }

    /// Whether this process uses the memory and devices of another.
    pub(crate) fn is_secondary(&self) -> bool {
        self.role == Role::Secondary
    }

    /// Whether other processes can attach to this one.
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

    /// What we have the lcore do; `None` for a number that no lcore can have.
    pub(crate) fn occupation(&self, lcore: LcoreId) -> Option<&Occupation> {
        self.occupations.get(usize::try_from(lcore.get()).ok()?)
    }

    pub(crate) fn scope_opened(&self) {
        self.scopes.fetch_add(1, Ordering::SeqCst);
    }

    pub(crate) fn scope_closed(&self) {
        self.scopes.fetch_sub(1, Ordering::SeqCst);
        if !self.is_forked() {
            self.free_retired(&mut self.control());
        }
    }

    /// Gives a pool back as soon as that is safe, and then the memory that its mbufs' buffers lie in.
    pub(crate) fn retire_pool(&self, pool: RawPool, memory: PoolMemory) {
        if self.is_forked() {
            return;
        }
        let mut control = self.control();
        control.retired.push(Retired { pool, memory, full_since: None });
        self.free_retired(&mut control);
    }

    /// Locks the control plane, once the retired pools are freed whose mbufs are all back: what is made next may need their names
    /// and their memory. The round of a service core is waited for without the lock, which what is called in it may need.
    pub(crate) fn control_with_room(&self) -> ControlGuard<'_> {
        loop {
            let mut control = self.control();
            self.free_retired(&mut control);
            if !self.may_free() || control.retired.iter().all(|retired| retired.full_since.is_none()) {
                return control;
            }
            drop(control);
            thread::yield_now();
        }
    }

    /// Whether no lcore can be inside DPDK but this one, and service cores that the EAL's options have made.
    fn may_free(&self) -> bool {
        self.on_main_thread() && self.scopes.load(Ordering::SeqCst) == 0
    }

    /// Frees the retired pools whose mbufs are all back.
    ///
    /// Returning an mbuf is not one atomic step for a thread with an lcore id: it goes to the lcore's cache, which counts
    /// it before it is stored. So this is done only when no such thread can be inside DPDK: on the main lcore's own thread,
    /// with no lcore scope open. Any other thread returns mbufs straight to the pool's driver, and its last access is the
    /// store that makes the mbuf count as returned, or is waited for by `dpdk_sys_mempool_full`. What is left are lcores that
    /// call services of drivers because the EAL's options say so: a pool is freed only once each of them has ended the round
    /// in which the last mbuf came back.
    pub(crate) fn free_retired(&self, control: &mut Control) {
        if !self.may_free() || control.retired.is_empty() {
            return;
        }
        // A secondary process that looks for a pool takes an mbuf out of it under this lock.
        // SAFETY: the EAL is initialised, since there is an `Environment`; the lock lies in memory that lives as long.
        unsafe { sys::rte_mcfg_mempool_write_lock() };
        control.retired.retain_mut(|retired| {
            let at_rest = retired.is_at_rest();
            if at_rest {
                // SAFETY: no handle and no mbuf of the pool is left, also in another process, which keeps an mbuf with each
                // handle, and nobody is inside a call that uses it: only the main lcore's thread comes here, with no lcore
                // scope open, DPDK's own service cores have gone on since, and a thread without an lcore id is done with the
                // pool once its mbuf counts as returned.
                unsafe { sys::rte_mempool_free(retired.pool.as_ptr()) };
                // No mbuf lies in it any more.
                retired.memory.take().into_iter().for_each(|memory| drop_unlocked(memory));
            }
            !at_rest
        });
        // SAFETY: the lock was taken a few lines before, on this thread.
        unsafe { sys::rte_mcfg_mempool_write_unlock() };
    }
}

/// Pools that were still in use when everything else was gone.
fn left_behind() -> MutexGuard<'static, Vec<Retired>> {
    static LEFT: Mutex<Vec<Retired>> = Mutex::new(Vec::new());
    LEFT.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Environment {
    fn drop(&mut self) {
        // A secondary process leaves all of it to its end: a packet may be left, and nothing here is its own.
        if self.is_forked() || self.role == Role::Secondary {
            return;
        }
        let held = self.control_with_room().retired.len();
        let left = self.control().left.join(", ");
        // Mbufs may be left that lie in their memory.
        left_behind().append(&mut self.control().retired);
        let reason = if !self.on_main_thread() {
            "the last object made from it was dropped on another thread".to_owned()
        } else if held > 0 {
            format!("{held} pools have mbufs that were never returned")
        } else if !left.is_empty() {
            format!("the driver of {left} cannot close what it has refused to set up")
        } else {
            port::close_rest(&self.control());
            // SAFETY: everything made from the EAL held a reference to this `Environment`, so nothing is left; this is
            // the thread that initialised it, and no pool is waiting for mbufs.
            unsafe { sys::rte_eal_cleanup() };
            return;
        };
        log(&format!("the EAL is not cleaned up: {reason}"));
    }
}

/// Writes a warning to DPDK's log.
pub(crate) fn log(message: &str) {
    if let Ok(message) = CString::new(message) {
        // SAFETY: the message is a string of ours, and the call keeps no pointer to it.
        unsafe { sys::dpdk_sys_log_warning(message.as_ptr()) };
    }
}

#[cfg(test)]
mod tests {
    use super::{EalError, Errno};

    #[test]
    fn no_error_number_is_no_success() {
        let said = |number| EalError::Init(Errno::new(number)).to_string();
        assert_eq!(said(0), "cannot initialize the EAL: what it has printed says why");
        assert_eq!(said(19), "cannot initialize the EAL: No such device");
    }
}
