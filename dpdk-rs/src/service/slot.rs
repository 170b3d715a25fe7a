// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The slot for a service's closure, to which DPDK keeps a pointer for ever.

use crate::{
    callback::discard,
    environment::Environment,
    lcore::{self, LcoreId, Panicked},
    sync::{
        Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering},
        constant,
    },
};
use std::{
    any::Any,
    panic::{self, AssertUnwindSafe},
    sync::{Arc, PoisonError, TryLockError},
};

/// What a call of a service found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Activity {
    /// There was work to do.
    Busy,
    /// There was no work. The time of this call is not counted.
    Idle,
}

type Closure = Box<dyn FnMut() -> Activity + Send>;

/// A slot for one closure at a time.
pub(crate) struct Slot {
    /// Whether somebody has filled the slot and not emptied it yet.
    taken: AtomicBool,
    /// Locked while the closure runs.
    entry: Mutex<Option<Entry>>,
    panic: Mutex<Option<(LcoreId, Box<dyn Any + Send>)>>,
}

/// A closure. While it is in the slot, an lcore may be inside DPDK with it.
struct Entry {
    closure: Option<Closure>,
    environment: Arc<Environment>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let closure = self.closure.take();
        if let Err(payload) = panic::catch_unwind(AssertUnwindSafe(|| drop(closure))) {
            discard(payload);
        }
        // SAFETY: `fill` has counted the entry, and the closure does not run any more.
        unsafe { self.environment.scope_closed() };
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Slot {
    constant! {
        pub(crate) const fn new() -> Self {
            Self { taken: AtomicBool::new(false), entry: Mutex::new(None), panic: Mutex::new(None) }
        }
    }

    /// Puts a closure into the slot. Returns whether the slot was empty.
    pub(crate) fn fill(&self, closure: Closure, environment: &Arc<Environment>) -> bool {
        if self.taken.swap(true, Ordering::AcqRel) {
            return false;
        }
        environment.scope_opened();
        let entry = Entry { closure: Some(closure), environment: Arc::clone(environment) };
        *lock(&self.entry) = Some(entry);
        true
    }

    /// Drops the closure, after its call has ended, and the payload of its panic. The closure cannot call this itself,
    /// since its service stays on another thread.
    pub(crate) fn empty(&self) {
        let entry = lock(&self.entry).take();
        drop(entry);
        let panic = lock(&self.panic).take();
        discard(panic);
        self.taken.store(false, Ordering::Release);
    }

    /// Calls the closure, if there is one that nobody else is calling.
    pub(crate) fn run(&self) -> Activity {
        let mut place = match self.entry.try_lock() {
            Ok(place) => place,
            Err(TryLockError::Poisoned(place)) => place.into_inner(),
            Err(TryLockError::WouldBlock) => return Activity::Idle,
        };
        let (Some(here), Some(entry)) = (lcore::current(), place.as_mut()) else { return Activity::Idle };
        let Some(closure) = &mut entry.closure else { return Activity::Idle };
        match panic::catch_unwind(AssertUnwindSafe(closure)) {
            Ok(activity) => activity,
            Err(payload) => {
                // Under the slot's lock: a thread that drops the service waits for this drop too, and a thread that
                // reads the panic finds the closure dropped.
                *place = None;
                *lock(&self.panic) = Some((here, payload));
                Activity::Busy
            }
        }
    }

    pub(super) fn take_panic(&self) -> Option<Panicked> {
        lock(&self.panic).take().map(|(lcore, payload)| Panicked::new(lcore, payload))
    }
}
