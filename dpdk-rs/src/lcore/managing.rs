// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Whether a thread is inside `rte_timer_manage`.

use core::cell::Cell;

thread_local! {
    /// Whether this thread is inside `rte_timer_manage`, which must not be called recursively.
    static MANAGING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is inside `rte_timer_manage`, which goes on to use its lcore's timers.
pub(super) fn is_managing() -> bool {
    MANAGING.get()
}

/// A call of `rte_timer_manage`.
pub(crate) struct Managing(());

impl Managing {
    /// `None` if this thread is already inside a call.
    pub(crate) fn begin() -> Option<Self> {
        // The value is created only in that case, since its drop ends the call.
        (!MANAGING.replace(true)).then(|| Self(()))
    }
}

impl Drop for Managing {
    fn drop(&mut self) {
        MANAGING.set(false);
    }
}
