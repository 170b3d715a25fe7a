// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! When DPDK's table of log types is stable: not while the EAL starts, since it loads drivers that add types.

use core::cell::Cell;
use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// Locked for writing while types are added.
static TYPES: RwLock<()> = RwLock::new(());

thread_local! {
    /// Whether this thread holds the lock, in either mode. Its log lines may reach subscribers, which may log in turn.
    /// Or the thread must not wait.
    static LOCKED: Cell<bool> = const { Cell::new(false) };
}

/// As long as this object lives, the table does not change, unless this thread changes it.
pub(super) struct Steady {
    /// `None` if this thread already holds the lock.
    lock: Option<RwLockReadGuard<'static, ()>>,
}

impl Steady {
    pub(super) fn begin() -> Self {
        let lock = (!LOCKED.get()).then(|| TYPES.read().unwrap_or_else(PoisonError::into_inner));
        LOCKED.set(true);
        Self { lock }
    }
}

impl Drop for Steady {
    fn drop(&mut self) {
        if self.lock.is_some() {
            LOCKED.set(false);
        }
    }
}

/// Runs code that adds types, while no other thread reads them through functions of this crate.
pub(crate) fn while_types_are_added<T>(add: impl FnOnce() -> T) -> T {
    let _types = TYPES.write().unwrap_or_else(PoisonError::into_inner);
    LOCKED.set(true);
    let added = add();
    LOCKED.set(false);
    added
}

/// Runs what DPDK calls while it writes a line. It must not wait, since the thread that starts the EAL waits for the
/// line.
#[cfg(feature = "tracing")]
pub(super) fn without_waiting<T>(run: impl FnOnce() -> T) -> T {
    let before = LOCKED.replace(true);
    let result = run();
    LOCKED.set(before);
    result
}

#[cfg(test)]
mod tests {
    use super::{Steady, TYPES, while_types_are_added};

    #[test]
    fn others_wait_and_the_thread_itself_does_not() {
        let is_locked =
            || std::thread::scope(|scope| scope.spawn(|| TYPES.try_write().is_err()).join().unwrap_or(false));
        while_types_are_added(|| {
            drop((Steady::begin(), Steady::begin()));
            assert!(is_locked());
        });
        let outer = Steady::begin();
        drop(Steady::begin());
        assert!(is_locked(), "the outer one goes on");
        drop(outer);
    }
}
