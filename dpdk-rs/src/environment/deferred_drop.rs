// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Values that must not be dropped under the lock of DPDK's control plane.
//!
//! A device that is stopped or closed frees the mbufs that it holds, and with them buffers of the program
//! ([`Packet::attach`](crate::Packet::attach)). Dropping these buffers runs code of the program, which may need the
//! control plane itself. So their drop is deferred until the lock is released.

use crate::{callback::discard, sync::thread_local};
use core::{cell::RefCell, mem::ManuallyDrop};
use std::panic::{self, AssertUnwindSafe};

/// The deferred values; `None` if nothing needs to be deferred.
type Waiting = Option<Vec<Box<dyn Send>>>;

thread_local! {
    /// The values that wait until this thread unlocks the control plane; `None` while it has not locked it. The
    /// variable needs no destructor, so it exists as long as the thread does.
    static WAITING: RefCell<ManuallyDrop<Waiting>> = const { RefCell::new(ManuallyDrop::new(None)) };
}

/// Until its drop, this thread defers drops.
pub(super) struct Later(());

impl Later {
    pub(super) fn begin() -> Self {
        WAITING.with(|waiting| waiting.replace(ManuallyDrop::new(Some(Vec::new()))));
        Self(())
    }
}

impl Drop for Later {
    fn drop(&mut self) {
        let waiting = WAITING.with(|waiting| waiting.borrow_mut().take());
        waiting.into_iter().flatten().for_each(drop_now);
    }
}

/// Drops a value, now or as soon as this thread has unlocked the control plane. A panic in its drop is caught.
pub(crate) fn drop_unlocked(thing: Box<dyn Send>) {
    let now = WAITING.with(|waiting| match &mut **waiting.borrow_mut() {
        Some(things) => {
            things.push(thing);
            None
        }
        None => Some(thing),
    });
    now.into_iter().for_each(drop_now);
}

/// The caller may be C, through which no panic may unwind.
fn drop_now(thing: Box<dyn Send>) {
    if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| drop(thing))) {
        discard(payload);
    }
}

#[cfg(test)]
mod tests {
    use super::{Later, drop_unlocked};
    use std::sync::{
        Arc,
        atomic::{AtomicU32, Ordering::Relaxed},
    };

    struct Counted(Arc<AtomicU32>);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.fetch_add(1, Relaxed);
        }
    }

    struct Panics(Counted);

    impl Drop for Panics {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new(Counted(Arc::clone(&self.0.0))));
        }
    }

    #[test]
    fn drops_wait_for_the_lock() {
        let count = Arc::new(AtomicU32::new(0));
        let counted = || Box::new(Counted(Arc::clone(&count)));
        drop_unlocked(counted());
        assert_eq!(count.load(Relaxed), 1, "nothing is locked");
        let later = Later::begin();
        drop_unlocked(counted());
        drop_unlocked(Box::new(Panics(*counted())));
        drop_unlocked(counted());
        std::thread::scope(|scope| scope.spawn(|| drop_unlocked(counted())).join()).unwrap_or_default();
        assert_eq!(count.load(Relaxed), 2, "another thread has not locked it");
        drop(later);
        assert_eq!(count.load(Relaxed), 6, "a panic stops none of the others, and what it carries is dropped");
        drop_unlocked(counted());
        assert_eq!(count.load(Relaxed), 7);
    }

    /// A value that is dropped after the lock is released may lock again, and drop more.
    #[test]
    fn a_drop_may_lock_again() {
        struct Locks(Arc<AtomicU32>);
        impl Drop for Locks {
            fn drop(&mut self) {
                let later = Later::begin();
                drop_unlocked(Box::new(Counted(Arc::clone(&self.0))));
                assert_eq!(self.0.load(Relaxed), 0);
                drop(later);
                assert_eq!(self.0.load(Relaxed), 1);
                self.0.fetch_add(1, Relaxed);
            }
        }
        let count = Arc::new(AtomicU32::new(0));
        let later = Later::begin();
        drop_unlocked(Box::new(Locks(Arc::clone(&count))));
        drop(later);
        assert_eq!(count.load(Relaxed), 2);
    }
}
