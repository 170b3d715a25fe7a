// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Whether a thread is inside a closure that handles an event of a device.

use core::cell::Cell;

thread_local! {
    /// Whether this thread is inside a call by a driver, which continues with its device when the call returns.
    static HANDLES_EVENT: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside a closure that handles an event.
pub(super) fn handles_event() -> bool {
    HANDLES_EVENT.get()
}

/// Marks the thread as handling an event until this object is dropped. If the thread was already marked, it stays so,
/// since one event may lead to another.
pub(in crate::port) struct EventGuard(bool);

impl EventGuard {
    pub(in crate::port) fn begin() -> Self {
        Self(HANDLES_EVENT.replace(true))
    }
}

impl Drop for EventGuard {
    fn drop(&mut self) {
        HANDLES_EVENT.set(self.0);
    }
}
