// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Several processes on the same memory: how they are started, and how they wait for each other.

use crate::{
    frames::until,
    process::{FINISHED, Finished, Running, eal_args, folder, init, options},
};
use dpdk_rs::{Eal, secondary::Secondary};
use std::{env, fs};

/// Whether there are no hugepages, without which processes share nothing; says so.
pub(crate) fn lacks_hugepages() -> bool {
    let lacks = env::var("DPDK_HUGEPAGES").as_deref() != Ok("1");
    if lacks {
        println!("skipped: no hugepages for two processes to share: DPDK_HUGEPAGES is not 1");
    }
    lacks
}

/// The EAL's command line for one of the processes of a test, with hugepages, and with files that others find it by.
pub(crate) fn shared_args(devices: &[&str]) -> Vec<String> {
    let (mut args, mut rest) = (Vec::new(), eal_args(devices).into_iter());
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--no-huge" | "--no-shconf" => (),
            "-m" => drop(rest.next()),
            _ => args.push(arg),
        }
    }
    args
}

/// A primary process with 16 hugepages of 2 MB and these devices.
pub(crate) fn primary(devices: &[&str]) -> Eal {
    let memory = ["-m", "32"].map(str::to_owned);
    init([shared_args(devices), memory.to_vec()].concat()).expect("the EAL starts").0
}

/// A secondary process, with the same numbers of lcores as the primary one.
pub(crate) fn secondary() -> Secondary {
    // SAFETY: both are the same program with the same drivers, write to shared memory through this crate alone, and the tests
    // free nothing that the other process still uses.
    let attached = unsafe { Secondary::attach(options(shared_args(&[]))) };
    attached.expect("it attaches").0
}

/// Announces to the other processes of this test that something has come about.
pub(crate) fn announce(what: &str) {
    fs::write(folder().join(what), "").expect("the file can be written");
}

/// Waits until another process of this test has announced that.
pub(crate) fn wait_for(what: &str) {
    until(&format!("another process announces '{what}'"), || folder().join(what).exists());
}

/// Waits for the end of a process, which must be the end of its closure; what it wrote to stderr.
pub(crate) fn ends_well(process: Running) -> String {
    let Finished { status, stdout, stderr } = process.finish(|_| {});
    assert_eq!(status.code(), Some(FINISHED), "another process ended with {status}; its output:\n{stdout}{stderr}");
    stderr
}
