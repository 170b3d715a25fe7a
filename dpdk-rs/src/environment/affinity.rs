// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The CPUs on which the process may run: the EAL pins its threads, including the calling one.

use crate::Errno;
use dpdk_sys::{self as sys, rte_cpuset_t};
use std::{mem::MaybeUninit, sync::OnceLock};

static CPUS: OnceLock<Result<rte_cpuset_t, Errno>> = OnceLock::new();

/// Stores the CPUs of the calling thread, which is about to start the EAL.
pub(crate) fn remember() {
    CPUS.get_or_init(|| {
        let mut cpus = MaybeUninit::uninit();
        // SAFETY: the call writes a set of CPUs.
        match unsafe { sys::dpdk_sys_thread_cpus(cpus.as_mut_ptr()) } {
            // SAFETY: the call has succeeded, so it has written the set.
            0 => Ok(unsafe { cpus.assume_init() }),
            error => Err(Errno::new(error)),
        }
    });
}

/// Lets the calling thread, which is not an lcore, use the stored CPUs except those of lcores, or all stored CPUs if no
/// other is left. Does nothing without an EAL.
pub(crate) fn restore() -> Result<(), Errno> {
    let Some(cpus) = CPUS.get() else { return Ok(()) };
    // SAFETY: the call reads the set, which exists, and DPDK's table of lcores. It needs no EAL, and nobody changes the
    // entries of the EAL's own lcores after the start.
    match unsafe { sys::dpdk_sys_leave_lcores(cpus.as_ref().map_err(|errno| *errno)?) } {
        0 => Ok(()),
        error => Err(Errno::new(error)),
    }
}
