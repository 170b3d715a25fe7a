// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The lock of DPDK's control plane, and what must not be dropped under it.
//!
//! A device that is stopped or closed frees the mbufs that it holds, and with them buffers of the program
//! ([`Packet::attach`](crate::Packet::attach)). Their drop is code of the program's own, which may need the control plane
//! itself: it waits until the lock is open again.

use crate::{callback::discard, eal::Control};
use core::{
    cell::RefCell,
    mem::ManuallyDrop,
    ops::{Deref, DerefMut},
};
use std::{
    panic::{self, AssertUnwindSafe},
    sync::MutexGuard,
};

/// The control plane, locked.
pub(crate) struct ControlGuard<'e> {
    control: MutexGuard<'e, Control>,
    /// Behind the lock, since fields are dropped in their order.
    _later: Later,
}

impl<'e> ControlGuard<'e> {
    pub(crate) fn new(control: MutexGuard<'e, Control>) -> Self {
        Self { control, _later: Later::begin() }
    }
}

impl Deref for ControlGuard<'_> {
    type Target = Control;

    fn deref(&self) -> &Control {
        &self.control
    }
}

impl DerefMut for ControlGuard<'_> {
    fn deref_mut(&mut self) -> &mut Control {
        &mut self.control
    }
}

/// What waits; `None` for nothing that it could wait for.
type Waiting = Option<Vec<Box<dyn Send>>>;

thread_local! {
    /// What waits for this thread to unlock the control plane; `None` while it has not locked it. It needs no destructor, so it is
    /// there as long as the thread is.
    static WAITING: RefCell<ManuallyDrop<Waiting>> = const { RefCell::new(ManuallyDrop::new(None)) };
}

/// From here to its drop, what this thread is to drop waits.
struct Later(());

impl Later {
    fn begin() -> Self {
        WAITING.set(ManuallyDrop::new(Some(Vec::new())));
        Self(())
    }
}

impl Drop for Later {
    fn drop(&mut self) {
        let waiting = WAITING.with(|waiting| waiting.borrow_mut().take());
        waiting.into_iter().flatten().for_each(drop_now);
    }
}

/// Drops something, now or as soon as this thread has unlocked the control plane. A panic of its drop goes no further.
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

/// The caller may be C, through which nothing unwinds.
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

    /// What is dropped behind the lock may lock again, and drop more.
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
