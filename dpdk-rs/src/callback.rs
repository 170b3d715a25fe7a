// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Closures that DPDK calls back, from its own threads and at any time.
//!
//! C never gets a pointer to a closure: it passes a key, under which the closure is looked up. A late call, or one for a
//! removed closure that DPDK still remembers, finds nothing, so no pointer dangles.

use crate::sync::{
    Arc, Mutex, MutexGuard,
    atomic::{AtomicBool, Ordering::Relaxed},
    constant,
    thread::{self, ThreadId},
};
use core::{ffi::c_int, marker::PhantomData, ops::RangeBounds};
use dpdk_sys as sys;
use std::{
    collections::BTreeMap,
    mem,
    panic::{self, AssertUnwindSafe},
    sync::PoisonError,
};

/// While this value lives, its thread is not cancelled. `rte_eal_cleanup` cancels the DPDK thread that receives
/// messages, and would unwind its stack from C, through the Rust code that it has called.
pub(crate) struct Uncancelled {
    before: c_int,
    /// The setting belongs to one thread.
    _not_send: PhantomData<*const ()>,
}

impl Uncancelled {
    pub(crate) fn hold() -> Self {
        // SAFETY: the call changes a setting of this thread, which the drop changes back.
        Self { before: unsafe { sys::dpdk_sys_hold_cancellation() }, _not_send: PhantomData }
    }
}

impl Drop for Uncancelled {
    fn drop(&mut self) {
        // SAFETY: the setting is that of this thread before `hold`, since a value of this type stays on the thread that
        // created it.
        unsafe { sys::dpdk_sys_release_cancellation(self.before) };
    }
}

/// Closures by key.
pub(crate) struct Callbacks<K, F> {
    slots: Mutex<BTreeMap<K, Arc<Slot<F>>>>,
}

struct Slot<F> {
    /// Locked during a call: one call at a time. `None` after its removal.
    closure: Mutex<Option<F>>,
    runner: Mutex<Option<ThreadId>>,
    /// Whether the closure has removed itself. Only a thread that has locked it reads or writes this.
    removed: AtomicBool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<F> Slot<F> {
    /// Whether this thread is inside the closure.
    fn runs_here(&self) -> bool {
        *lock(&self.runner) == Some(thread::current().id())
    }
}

impl<K: Ord, F> Callbacks<K, F> {
    constant! {
        pub(crate) const fn new() -> Self {
            Self { slots: Mutex::new(BTreeMap::new()) }
        }
    }

    /// Adds a closure. Returns whether the key was free.
    pub(crate) fn add(&self, key: K, closure: F) -> bool {
        let mut slots = lock(&self.slots);
        if slots.contains_key(&key) {
            return false;
        }
        let (closure, runner, removed) = (Mutex::new(Some(closure)), Mutex::new(None), AtomicBool::new(false));
        slots.insert(key, Arc::new(Slot { closure, runner, removed }));
        true
    }

    /// Removes a closure and drops it. If another thread is calling it, waits for the call to end; if this thread is
    /// calling it, the closure is dropped after the call.
    pub(crate) fn remove(&self, key: &K) {
        let Some(slot) = lock(&self.slots).remove(key) else { return };
        if slot.runs_here() {
            slot.removed.store(true, Relaxed);
        } else {
            let closure = lock(&slot.closure).take();
            drop(closure);
        }
    }

    /// Calls a closure by `call`. Returns `None` if there is none, if this thread is already inside it, or if it
    /// panics.
    pub(crate) fn call<R>(&self, key: &K, call: impl FnOnce(&mut F) -> R) -> Option<R> {
        let whole = || {
            let slot = lock(&self.slots).get(key).map(Arc::clone)?;
            if slot.runs_here() {
                return None;
            }
            let mut closure = lock(&slot.closure);
            *lock(&slot.runner) = Some(thread::current().id());
            let result = panic::catch_unwind(AssertUnwindSafe(|| closure.as_mut().map(call)));
            *lock(&slot.runner) = None;
            // Another thread may already have looked it up, and wait to call it.
            let removed = slot.removed.load(Relaxed).then(|| closure.take());
            drop(closure);
            drop(removed);
            result.unwrap_or_else(|payload| {
                discard(payload);
                None
            })
        };
        // The closure may be dropped here, and its drop may panic.
        panic::catch_unwind(AssertUnwindSafe(whole)).unwrap_or_else(|payload| {
            discard(payload);
            None
        })
    }
}

impl<K: Ord + Copy, F> Callbacks<K, F> {
    /// Calls the closures of a range of keys by `call`, in order.
    pub(crate) fn call_all(&self, keys: impl RangeBounds<K>, call: impl Fn(&mut F)) {
        let keys: Vec<K> = lock(&self.slots).range(keys).map(|(key, _)| *key).collect();
        for key in keys {
            self.call(&key, &call);
        }
    }
}

/// Drops a panic payload that nobody wants. If the drop panics too, the payload of that panic is leaked.
pub(crate) fn discard<T>(payload: T) {
    if let Err(second) = panic::catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(second);
    }
}

#[cfg(test)]
mod tests {
    use super::Callbacks;
    use std::sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc,
    };

    type Closure = Box<dyn FnMut(u32) -> u32 + Send>;

    #[test]
    fn a_closure_is_called_by_its_key_until_it_is_removed() {
        let callbacks = Callbacks::<u8, Closure>::new();
        let mut sum = 0;
        assert!(callbacks.add(
            1,
            Box::new(move |number| {
                sum += number;
                sum
            })
        ));
        assert!(!callbacks.add(1, Box::new(|number| number)));
        let call = |number| callbacks.call(&1, |closure| closure(number));
        assert_eq!((call(2), call(3), callbacks.call(&2, |closure| closure(1))), (Some(2), Some(5), None));
        callbacks.remove(&1);
        assert_eq!(call(1), None);
        assert!(callbacks.add(1, Box::new(|number| number)));
    }

    #[test]
    fn all_of_a_range_are_called() {
        let callbacks = Callbacks::<u8, Closure>::new();
        let (sender, receiver) = mpsc::channel();
        for key in 0..5_u8 {
            let sender = sender.clone();
            callbacks.add(key, Box::new(move |number| sender.send((key, number)).map_or(0, |()| number)));
        }
        callbacks.call_all(1..=3, |closure| assert_eq!(closure(7), 7));
        callbacks.remove(&2);
        callbacks.call_all(2.., |closure| assert_eq!(closure(8), 8));
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [(1, 7), (2, 7), (3, 7), (3, 8), (4, 8)]);
    }

    #[test]
    fn a_panic_is_no_answer_and_no_end() {
        let callbacks = Callbacks::<u8, Closure>::new();
        callbacks.add(1, Box::new(|number| if number == 0 { std::panic::resume_unwind(Box::new(0)) } else { number }));
        assert_eq!(callbacks.call(&1, |closure| closure(0)), None);
        assert_eq!(callbacks.call(&1, |closure| closure(4)), Some(4));
    }

    #[test]
    fn one_that_removes_itself_is_dropped_when_it_ends() {
        struct Dropped(Arc<AtomicBool>);
        impl Drop for Dropped {
            fn drop(&mut self) {
                self.0.store(true, SeqCst);
            }
        }
        let callbacks = Arc::new(Callbacks::<u8, Closure>::new());
        let flag = Arc::new(AtomicBool::new(false));
        let (own, dropped) = (Arc::clone(&callbacks), Dropped(Arc::clone(&flag)));
        callbacks.add(
            1,
            Box::new(move |number| {
                own.remove(&1);
                assert!(!dropped.0.load(SeqCst));
                assert_eq!(own.call(&1, |closure| closure(number)), None);
                number
            }),
        );
        assert_eq!(callbacks.call(&1, |closure| closure(9)), Some(9));
        assert!(flag.load(SeqCst));
    }

    #[test]
    fn removal_waits_for_a_call_on_another_thread() {
        let callbacks = Callbacks::<u8, Closure>::new();
        let (inside, entered) = mpsc::channel();
        let (leave, left) = mpsc::channel();
        let ended = Arc::new(AtomicBool::new(false));
        let end = Arc::clone(&ended);
        callbacks.add(
            1,
            Box::new(move |number| {
                let _ = inside.send(());
                let _ = left.recv();
                end.store(true, SeqCst);
                number
            }),
        );
        std::thread::scope(|scope| {
            scope.spawn(|| callbacks.call(&1, |closure| closure(1)));
            assert_eq!(entered.recv(), Ok(()));
            let removal = scope.spawn(|| {
                callbacks.remove(&1);
                ended.load(SeqCst)
            });
            assert_eq!(leave.send(()), Ok(()));
            assert!(removal.join().is_ok_and(|ended| ended));
        });
    }
}
