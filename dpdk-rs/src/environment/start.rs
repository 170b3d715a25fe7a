// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Starting the EAL, once in the life of a process.

use super::affinity;
use crate::{Errno, device::InvalidValue};
use core::{
    ffi::{CStr, c_char, c_int},
    ptr,
};
use dpdk_sys as sys;
use std::{
    ffi::{CString, OsString},
    sync::atomic::{AtomicBool, AtomicPtr, Ordering},
};

/// Why the EAL did not start.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EalError {
    /// DPDK can start only once in the life of a process, even if it fails.
    #[error(
        "the EAL was already initialized in this process, which is possible only once: pass the Eal on; \
         tests that each need one must run in separate processes"
    )]
    AlreadyInitialized,
    /// The command line is empty. It lacks even the program's name.
    #[error("no arguments: give at least the program's name")]
    NoArguments,
    /// An argument contains a NUL byte.
    #[error("argument {0:?} contains a NUL byte")]
    Argument(String),
    /// One of the program's own arguments is not UTF-8. The text has replacements for the bytes.
    #[error("argument {0:?} is not UTF-8")]
    NotUtf8(String),
    /// A value of the program's [`EalOptions`](crate::EalOptions) cannot be used.
    #[error(transparent)]
    Value(#[from] InvalidValue),
    /// The running library has another release than the headers with which this program was built.
    #[error("built with DPDK {built}, but DPDK {running} is running: build again, or install DPDK {built}")]
    Version {
        /// The release of the headers, such as `22.11`.
        built: String,
        /// The version of the library.
        running: String,
    },
    /// `rte_eal_init` failed. DPDK's log has details.
    ///
    /// The number is 0 if DPDK sets none, for instance if another process uses the file prefix:
    /// [`diagnosis::of_start`](crate::diagnosis::of_start) finds out which.
    #[error("cannot initialize the EAL: {}", reason(*.0))]
    Init(Errno),
    /// The driver of this virtual device on the command line rejected it. DPDK's log has the reason, and DPDK itself
    /// would continue without the device. [`diagnosis::of_start`](crate::diagnosis::of_start) may find the reason too.
    #[error(
        "cannot initialize the EAL: the driver of device '{0}' refused it: correct the device's arguments, or leave it out; \
         DPDK's log says more"
    )]
    Device(String),
    /// Another process with the same file prefix is the primary one, and this process was started as a secondary one
    /// (`--proc-type`). Its ports and pools belong to the other process: see
    /// [`Secondary`](crate::secondary::Secondary).
    #[error("this process is a secondary one of DPDK: leave out --proc-type, and give another --file-prefix")]
    Secondary,
}

/// DPDK sets no error number if another process uses the file prefix, and 0 would read "Success".
pub(crate) fn reason(errno: Errno) -> String {
    if errno.get() == 0 { "DPDK's output has the reason".to_owned() } else { errno.to_string() }
}

impl EalError {
    /// DPDK's error, if a DPDK call failed.
    #[must_use]
    pub const fn errno(&self) -> Option<Errno> {
        if let Self::Init(errno) = self { Some(*errno) } else { None }
    }

    /// The name of the DPDK function that failed.
    #[must_use]
    pub const fn call(&self) -> Option<&'static str> {
        if let Self::Init(_) = self { Some("rte_eal_init") } else { None }
    }
}

/// Set by the first call of [`Eal::init`](crate::Eal::init), and never unset.
static STARTED: AtomicBool = AtomicBool::new(false);

/// Set when that call has returned from DPDK, successfully or not.
static START_ENDED: AtomicBool = AtomicBool::new(false);

/// Whether the lists of buses and drivers are final: only `rte_eal_init` adds to them.
pub(crate) fn start_ended() -> bool {
    START_ENDED.load(Ordering::Acquire)
}

/// Splits a command line into the arguments for the EAL, and the program's own after the first `--`.
pub(crate) fn split<I>(args: I) -> (Vec<OsString>, Vec<OsString>)
where
    I: IntoIterator,
    I::Item: Into<OsString>,
{
    let mut args = args.into_iter().map(Into::into);
    let eal_args = args.by_ref().take_while(|arg| arg != "--").collect();
    (eal_args, args.collect())
}

/// Initialises the EAL, once in the life of the process. Returns the remaining arguments.
pub(crate) fn start_once(args: Vec<OsString>) -> Result<Vec<String>, EalError> {
    let args = args.into_iter().map(c_string).collect::<Result<Vec<_>, _>>()?;
    check_version()?;
    if STARTED.swap(true, Ordering::SeqCst) {
        return Err(EalError::AlreadyInitialized);
    }
    start(args)
}

fn c_string(arg: OsString) -> Result<CString, EalError> {
    let text = || arg.to_string_lossy().into_owned();
    CString::new(arg.as_encoded_bytes()).map_err(|_| EalError::Argument(text()))
}

/// The arguments of `rte_eal_init`. DPDK keeps pointers to them, and leak detectors find them here.
static ARGV: AtomicPtr<*mut c_char> = AtomicPtr::new(ptr::null_mut());

/// Calls `rte_eal_init`. Returns the remaining arguments. The strings are leaked, since DPDK keeps pointers to them.
fn start(args: Vec<CString>) -> Result<Vec<String>, EalError> {
    crate::log::begin();
    affinity::remember();
    let mut argv: Vec<*mut c_char> = args.into_iter().map(CString::into_raw).collect();
    let argc = c_int::try_from(argv.len()).unwrap_or(c_int::MAX);
    argv.push(ptr::null_mut());
    // DPDK overwrites its last option with the program's name. A second list after the first one keeps the option.
    argv.extend_from_within(..argv.len() - 1);
    let argv = argv.leak();
    ARGV.store(argv.as_mut_ptr(), Ordering::Relaxed);
    // SAFETY: `argv` contains `argc` strings and a null pointer, which this function has leaked: they live for ever and
    // nobody else writes to them. `Eal::init` makes this call only once in the life of the process.
    let result = crate::log::while_types_are_added(|| unsafe { sys::rte_eal_init(argc, argv.as_mut_ptr()) });
    START_ENDED.store(true, Ordering::Release);
    // The call moves arguments that are not options to the end. Its result counts the arguments before them, without
    // the program's name.
    let used = usize::try_from(result).map_err(|_| EalError::Init(Errno::last()))? + 1;
    let rest = argv.iter().skip(used).take_while(|arg| !arg.is_null());
    // SAFETY: DPDK only changes the order of `argv`, so the remaining elements are some of the leaked strings.
    Ok(rest.map(|arg| unsafe { CStr::from_ptr(*arg) }.to_string_lossy().into_owned()).collect())
}

/// The first device of `--vdev` that its driver rejected, for the thread that has just initialised the EAL.
///
/// # Safety
/// The EAL is initialised, and nothing was made from it yet.
pub(crate) unsafe fn refused_device() -> Option<String> {
    // SAFETY: the EAL is initialised, and nobody changes its list of virtual devices: the caller has made nothing from it yet.
    let name = unsafe { sys::dpdk_sys_refused_vdev() };
    // SAFETY: a name is a string that lives as long as its device, which exists.
    (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned())
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

#[cfg(test)]
mod tests {
    use super::{EalError, Errno};

    #[test]
    fn no_error_number_is_no_success() {
        let said = |number| EalError::Init(Errno::new(number)).to_string();
        assert_eq!(said(0), "cannot initialize the EAL: DPDK's output has the reason");
        assert_eq!(said(19), "cannot initialize the EAL: No such device");
    }
}
