// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The list of queues whose interrupts wake a thread.

use core::{cell::RefCell, time::Duration};
use dpdk_sys as sys;
use std::{
    os::fd::{AsRawFd, FromRawFd, OwnedFd},
    sync::{Arc, PoisonError, RwLock},
};

/// Held while a thread handles a report: the thread first asks which queue it is for, and then follows a pointer to the
/// queue. No thread removes a queue from a list during that time.
pub(super) static WATCHED: RwLock<()> = RwLock::new(());

/// An epoll file, on which a thread waits. The thread and the queues in it keep it open.
pub(crate) struct List(OwnedFd);

thread_local! {
    /// The list of this thread, once it has waited.
    static LIST: RefCell<Option<Arc<List>>> = const { RefCell::new(None) };
}

impl List {
    /// The list of this thread, or the error number of creating it.
    pub(super) fn own() -> Result<Arc<Self>, i32> {
        let find = |place: &RefCell<Option<Arc<Self>>>| {
            let mut place = place.borrow_mut();
            if let Some(list) = &*place {
                return Ok(Arc::clone(list));
            }
            let list = Self::create()?;
            *place = Some(Arc::clone(&list));
            Ok(list)
        };
        // A thread whose local storage is being destroyed creates a list each time.
        LIST.try_with(find).unwrap_or_else(|_| Self::create())
    }

    fn create() -> Result<Arc<Self>, i32> {
        // SAFETY: the call creates a file.
        let file = unsafe { sys::dpdk_sys_epoll_create() };
        if file < 0 {
            return Err(file);
        }
        // SAFETY: the file is new, and nobody else has it.
        Ok(Arc::new(Self(unsafe { OwnedFd::from_raw_fd(file) })))
    }

    /// The file, for DPDK.
    pub(super) fn file(&self) -> i32 {
        self.0.as_raw_fd()
    }
    /// Waits until a queue has a report. Returns 1, 0 after the timeout, or an error number.
    pub(super) fn wait(&self, timeout: Duration) -> i32 {
        let millis = i32::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(i32::MAX);
        // SAFETY: the call waits on a file of ours, and reads nothing of a queue.
        let ready = unsafe { sys::dpdk_sys_epoll_ready(self.0.as_raw_fd(), millis) };
        if ready <= 0 {
            return ready;
        }
        let _watched = WATCHED.read().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the call reads the queues' interrupts in the list. These queues are live, since each is removed from
        // the list when it is dropped, and none is removed during the call.
        unsafe { sys::dpdk_sys_epoll_reported(self.0.as_raw_fd()) }
    }
}
