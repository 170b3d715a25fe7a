// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! `interposer.c`, which makes a chosen call of DPDK to the system or to its heap fail: built, preloaded and
//! configured.

use crate::process::isolated_bare_cases;
use core::{
    ffi::{CStr, c_char, c_int, c_void},
    ptr,
};
use nix::libc;
use std::{
    env, fs,
    os::fd::RawFd,
    path::{Path, PathBuf},
    process::{self, Command},
    sync::OnceLock,
};

/// What is made to fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `malloc` and the like.
    Memory = 1,
    /// `rte_malloc`, memory zones and the like.
    Heap = 2,
    /// `mmap`.
    Mapping = 3,
    /// `open` and `fopen`.
    File = 4,
    /// `pthread_create`.
    Thread = 5,
    /// The armed function itself, which must be `rte_eth_dev_stop`.
    Call = 6,
}

/// Runs `body` once for each case, each time in a process of its own into which the interposer is loaded, and which the
/// command `wrapper` starts.
pub(crate) fn with_interposer<F: Fn(usize)>(wrapper: &[&str], cases: usize, body: F) {
    let reason = if cfg!(feature = "static") {
        Some("DPDK is linked statically, so its calls cannot be intercepted")
    } else if ["DPDK_RS_TEST_TOOL", "ASAN_OPTIONS"].into_iter().any(|name| env::var_os(name).is_some()) {
        Some("the tool that the tests run in has its own malloc")
    } else {
        None
    };
    if let Some(reason) = reason {
        println!("skipped: {reason}");
        return;
    }
    let preload = format!("LD_PRELOAD={}", library().display());
    for output in isolated_bare_cases(&[wrapper, &["env", &preload]].concat(), cases, body) {
        // The test runner reads what this process writes.
        let relevant = |line: &&str| line.starts_with("skipped: ") || line.starts_with("swept: ");
        output.lines().filter(relevant).for_each(|line| println!("{line}"));
    }
}

/// Whether the interposer can do its work. Prints the reason if it cannot.
pub(crate) fn in_place() -> bool {
    // SAFETY: the type is that of the function in interposer.c.
    let in_place = unsafe { function::<extern "C" fn() -> bool>(c"faults_in_place") };
    let in_place = in_place();
    if !in_place {
        println!("skipped: another library, such as a sanitizer's, replaces malloc");
    }
    in_place
}

/// The interposer, compiled at the first call.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        if let Some(loaded) = env::var_os("LD_PRELOAD") {
            return PathBuf::from(loaded);
        }
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/interposer.c");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let (draft, library) = (folder.join(format!("interposer-{}.so", process::id())), folder.join("interposer.so"));
        let mut compiler = Command::new(env::var_os("CC").unwrap_or_else(|| "cc".into()));
        compiler.args(["-shared", "-fPIC", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-o"]);
        let status = compiler.arg(&draft).arg(&source).args(["-ldl", "-lpthread"]).status();
        let status = status.unwrap_or_else(|error| panic!("cannot run {compiler:?}: {error}"));
        assert!(status.success(), "{compiler:?} ended with {status}");
        // Other processes may have the old file mapped.
        fs::rename(&draft, &library).expect("both names are in one folder");
        library
    })
}

/// A function of the interposer.
///
/// # Safety
/// `F` is the type of that function.
unsafe fn function<F: Copy>(name: &CStr) -> F {
    assert_eq!(size_of::<F>(), size_of::<*mut c_void>());
    // SAFETY: the name is a string.
    let address: *mut c_void = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    assert!(!address.is_null(), "the interposer is not loaded");
    // SAFETY: the address is that of a function of type `F`, says the caller; the sizes have just been compared.
    unsafe { core::mem::transmute_copy(&address) }
}

/// Which calls fail.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Which {
    None,
    /// This one, counted from 1.
    Only(u64),
    /// This one and all that follow.
    From(u64),
}

/// Makes calls fail that this thread makes inside `function` of DPDK, or inside all that begin with what stands before
/// a star.
pub(crate) fn arm(kind: Kind, function_name: &'static CStr, which: Which) {
    let (first, onwards) = match which {
        Which::None => (0, false),
        Which::Only(number) => (number, false),
        Which::From(number) => (number, true),
    };
    type Arm = unsafe extern "C" fn(c_int, *const c_char, u64, bool);
    // SAFETY: the type is that of the function in interposer.c.
    let arm = unsafe { function::<Arm>(c"faults_arm") };
    // SAFETY: the name is a string that lives for ever.
    unsafe { arm(kind as c_int, function_name.as_ptr(), first, onwards) };
}

/// Nothing fails any more.
pub(crate) fn disarm() {
    // SAFETY: the type is that of the function in interposer.c.
    let disarm = unsafe { function::<extern "C" fn()>(c"faults_disarm") };
    disarm();
}

/// How many calls have failed since [`arm`].
pub(crate) fn failed() -> u64 {
    // SAFETY: the type is that of the function in interposer.c.
    let failed = unsafe { function::<extern "C" fn() -> u64>(c"faults_failed") };
    failed()
}

/// Writes a line for each call of the armed kind to `file`.
pub(crate) fn list(file: RawFd) {
    // SAFETY: the type is that of the function in interposer.c, which takes any number.
    let list = unsafe { function::<extern "C" fn(c_int)>(c"faults_list") };
    list(file);
}

/// Has devices see what begins at `address` far away from what ends there, while `body` runs.
pub(crate) fn with_memory_cut<T>(address: *const u8, body: impl FnOnce() -> T) -> T {
    // SAFETY: the type is that of the function in interposer.c, which keeps the address, and does not follow it.
    let cut = unsafe { function::<extern "C" fn(*const u8)>(c"faults_cut_memory") };
    cut(address);
    let value = body();
    cut(ptr::null());
    value
}

/// From now on a crash writes the stack to stderr before it ends the process.
pub(crate) fn watch_crashes() {
    // SAFETY: the type is that of the function in interposer.c.
    let watch_crashes = unsafe { function::<extern "C" fn()>(c"faults_watch_crashes") };
    watch_crashes();
}
