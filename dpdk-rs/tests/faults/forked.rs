// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A closure in a forked process: what it wrote, and how it ended.

use crate::process::{folder, patience};
use core::ffi::c_int;
use nix::{
    sys::{
        prctl::set_pdeathsig,
        signal::{Signal, kill},
        wait::{WaitStatus, waitpid},
    },
    unistd::{ForkResult, Pid, alarm, dup2_stderr, fork},
};
use std::{
    fs::{self, File},
    panic::{self, AssertUnwindSafe},
    path::PathBuf,
    process,
    sync::atomic::{AtomicBool, AtomicU32, Ordering},
    time::Duration,
};

/// A forked process that takes longer hangs.
const DEADLINE: Duration = Duration::from_secs(240);

/// Whether this process was forked.
static FORKED: AtomicBool = AtomicBool::new(false);

/// Whether something stays behind in this process that nobody can help.
static LEAKS: AtomicBool = AtomicBool::new(false);

/// Has LeakSanitizer not look at this process at its end.
pub(crate) fn allow_leaks() {
    LEAKS.store(true, Ordering::Relaxed);
}

/// LeakSanitizer asks this at the end of a process. In a forked one it would call leaks what only the threads knew of that
/// stayed behind.
// SAFETY: this is the name's meaning, and nobody else here defines it.
#[unsafe(no_mangle)]
extern "C" fn __lsan_is_turned_off() -> c_int {
    c_int::from(FORKED.load(Ordering::Relaxed) || LEAKS.load(Ordering::Relaxed))
}

/// How a forked process ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: WaitStatus,
    pub(crate) stderr: String,
}

impl Ended {
    /// The exit status; `None` if a signal ended the process.
    pub(crate) const fn code(&self) -> Option<i32> {
        if let WaitStatus::Exited(_, code) = self.status { Some(code) } else { None }
    }

    /// Fails the test unless the process ended with status 0.
    pub(crate) fn expect_success(&self) {
        assert!(self.code() == Some(0), "the forked process ended: {:?}\n{}", self.status, self.stderr);
    }
}

/// A forked process. One that is dropped is killed.
pub(crate) struct Forked {
    child: Option<Pid>,
    stderr: PathBuf,
}

impl Forked {
    /// Runs `body` in a forked process. What it returns is the exit status; a panic gives 101.
    pub(crate) fn start(body: impl FnOnce() -> i32) -> Self {
        if let Some(forked) = Self::start_here() {
            return forked;
        }
        process::exit(panic::catch_unwind(AssertUnwindSafe(body)).unwrap_or(101));
    }

    /// Forks. Returns in both processes: `None` in the child, which has to end by itself.
    pub(crate) fn start_here() -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let path = folder().join(format!("stderr-{}-{}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let stderr = File::create_new(&path).expect("the file can be made");
        // SAFETY: the child is one thread with a copy of all memory. Whatever lock another thread held is held for
        // ever, and the alarm ends a child that waits for one; what it may do with DPDK is what these tests are
        // about.
        match unsafe { fork() }.expect("a process can be forked") {
            ForkResult::Child => {
                FORKED.store(true, Ordering::Relaxed);
                alarm::set(u32::try_from(patience(DEADLINE).as_secs()).unwrap_or(u32::MAX));
                let ready = set_pdeathsig(Signal::SIGKILL).and_then(|()| dup2_stderr(&stderr));
                if ready.is_err() {
                    process::exit(100);
                }
                None
            }
            ForkResult::Parent { child } => Some(Self { child: Some(child), stderr: path }),
        }
    }

    /// Ends the process at once, as `kill -9` does, and shows what it wrote.
    pub(crate) fn kill(mut self) {
        self.child.take().into_iter().for_each(end);
        eprintln!("the forked process wrote:\n{}", fs::read_to_string(&self.stderr).unwrap_or_default());
    }

    /// Waits for the end of the process.
    pub(crate) fn wait(mut self) -> Ended {
        let child = self.child.take().expect("it is taken only here and at the end");
        let status = waitpid(child, None).expect("the child is ours");
        let bytes = fs::read(&self.stderr).expect("the file is there");
        Ended { status, stderr: String::from_utf8_lossy(&bytes).into_owned() }
    }
}

fn end(child: Pid) {
    // It may have ended by itself.
    let _ = kill(child, Signal::SIGKILL);
    let _ = waitpid(child, None);
}

impl Drop for Forked {
    fn drop(&mut self) {
        self.child.take().into_iter().for_each(end);
        let _ = fs::remove_file(&self.stderr);
    }
}

/// Runs `body` in a forked process and waits for its end. What it returns is the exit status; a panic gives 101.
pub(crate) fn forked(body: impl FnOnce() -> i32) -> Ended {
    Forked::start(body).wait()
}
