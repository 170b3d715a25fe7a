// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! A closure in a forked process: what it wrote, and how it ended.

use crate::process::folder;
use nix::{
    sys::wait::{WaitStatus, waitpid},
    unistd::{ForkResult, alarm, dup2_stderr, fork},
};
use std::{
    fs::{self, File},
    panic::{self, AssertUnwindSafe},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// A forked process that takes longer hangs.
const DEADLINE_S: u32 = 60;

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
}

/// Runs `body` in a forked process and waits for its end. What it returns is the exit status; a panic gives 101.
pub(crate) fn forked(body: impl FnOnce() -> i32) -> Ended {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let path = folder().join(format!("stderr-{}", COUNT.fetch_add(1, Ordering::Relaxed)));
    let stderr = File::create_new(&path).expect("the file can be made");
    // SAFETY: the child is one thread with a copy of all memory. Whatever lock another thread held is held for ever,
    // and the alarm ends a child that waits for one; what it may do with DPDK is what these tests are about.
    match unsafe { fork() }.expect("a process can be forked") {
        ForkResult::Child => {
            alarm::set(DEADLINE_S);
            let code = match dup2_stderr(&stderr) {
                Ok(()) => panic::catch_unwind(AssertUnwindSafe(body)).unwrap_or(101),
                Err(_) => 100,
            };
            process::exit(code);
        }
        ForkResult::Parent { child } => {
            let status = waitpid(child, None).expect("the child is ours");
            let bytes = fs::read(&path).expect("the file is there");
            fs::remove_file(&path).expect("the file is there");
            Ended { status, stderr: String::from_utf8_lossy(&bytes).into_owned() }
        }
    }
}
