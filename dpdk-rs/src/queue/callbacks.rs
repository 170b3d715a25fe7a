// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The callbacks of a queue during a call, such as those of a capture.

use crate::port::entry;
use core::ffi::c_void;
use dpdk_sys as sys;

/// While this value lives, no process can free a ring or a mempool, such as those of a capture. This is needed because a
/// process that captures may remove its callbacks and at once free what they use, without checking whether a thread is
/// inside one: `dpdk-dumpcap` of DPDK 22.11 does.
pub(super) struct CallbackRun {
    pub(super) callbacks: *mut c_void,
}

impl CallbackRun {
    /// The callbacks of a queue, if there are any.
    ///
    /// # Safety
    /// `list` has an entry for `queue`.
    pub(super) unsafe fn begin(list: *mut *mut c_void, queue: usize) -> Option<Self> {
        // SAFETY: the caller promises that the table has an entry for the queue.
        if unsafe { entry(list, queue) }.is_null() {
            return None;
        }
        // SAFETY: the EAL is initialised, since there is a queue; the lock lies in memory that lives as long as the EAL.
        unsafe { sys::rte_mcfg_tailq_read_lock() };
        // Read again: the callbacks may have been removed before the lock was taken.
        // SAFETY: the caller promises that the table has an entry for the queue.
        let run = Self { callbacks: unsafe { entry(list, queue) } };
        (!run.callbacks.is_null()).then_some(run)
    }
}

impl Drop for CallbackRun {
    fn drop(&mut self) {
        // SAFETY: `begin` has taken the lock, on this thread.
        unsafe { sys::rte_mcfg_tailq_read_unlock() };
    }
}
