// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! The stacks of this thread, and the border to C, which no panic crosses.

use crate::error::Error;
use crate::handles::Stack;
use crate::queues::Queues;
use core::cell::RefCell;
use core::ffi::{c_int, c_void};
use core::mem::ManuallyDrop;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use dpdk_sockets::ConnectionId;
use slotmap::SecondaryMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A stack, and what C wants to be reminded of.
pub(crate) struct Polled {
    pub(crate) stack: dpdk_sockets::Stack<Queues>,
    /// Has every connection of C.
    pub(crate) users: SecondaryMap<ConnectionId, *mut c_void>,
}

impl Polled {
    pub(crate) fn new(stack: dpdk_sockets::Stack<Queues>) -> Self {
        Self { stack, users: SecondaryMap::new() }
    }
}

struct Entry<S> {
    id: u64,
    /// A call has begun and not ended: it panicked.
    is_broken: bool,
    stack: S,
}

/// The stacks of a thread, mostly one.
struct Stacks<S>(Vec<Entry<S>>);

impl<S> Stacks<S> {
    fn insert(&mut self, stack: S) -> Stack {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Relaxed);
        self.0.push(Entry { id, is_broken: false, stack });
        Stack { id }
    }

    fn remove(&mut self, stack: Stack) -> Result<S, Error> {
        let place = self.0.iter().position(|entry| entry.id == stack.id).ok_or(Error::NoSuchStack)?;
        Ok(self.0.swap_remove(place).stack)
    }

    fn call<T>(&mut self, stack: Stack, call: impl FnOnce(&mut S) -> Result<T, Error>) -> Result<T, Error> {
        let entry = self.0.iter_mut().find(|entry| entry.id == stack.id).ok_or(Error::NoSuchStack)?;
        if entry.is_broken {
            return Err(Error::Internal);
        }
        entry.is_broken = true;
        let result = call(&mut entry.stack);
        entry.is_broken = false;
        result
    }
}

thread_local! {
    /// A stack that was not freed when its thread ends is leaked: its pool may be gone by then.
    static STACKS: RefCell<ManuallyDrop<Stacks<Polled>>> = const { RefCell::new(ManuallyDrop::new(Stacks(Vec::new()))) };
}

/// What C gets: a result, or the number of an error. A panic is [`Error::Internal`].
pub(crate) fn guarded(call: impl FnOnce() -> Result<c_int, Error>) -> c_int {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(result) => result.unwrap_or_else(|error| error as c_int),
        Err(panic) => {
            // Whatever it carries: its drop may panic as well.
            core::mem::forget(panic);
            Error::Internal as c_int
        }
    }
}

fn locally<T>(call: impl FnOnce(&mut Stacks<Polled>) -> Result<T, Error>) -> Result<T, Error> {
    // In use: by a call that a signal handler has interrupted.
    STACKS.with(|stacks| {
        let mut stacks = stacks.try_borrow_mut().map_err(|_| Error::Internal)?;
        call(&mut stacks)
    })
}

/// Calls something with a stack of this thread.
pub(crate) fn with(stack: Stack, call: impl FnOnce(&mut Polled) -> Result<c_int, Error>) -> c_int {
    guarded(|| locally(|stacks| stacks.call(stack, call)))
}

/// From now on, this thread has the stack.
pub(crate) fn insert(polled: Polled) -> Result<Stack, Error> {
    locally(|stacks| Ok(stacks.insert(polled)))
}

/// Takes a stack of this thread away.
pub(crate) fn remove(stack: Stack) -> Result<Polled, Error> {
    locally(|stacks| stacks.remove(stack))
}

#[cfg(test)]
mod tests {
    use super::{Stacks, guarded};
    use crate::error::Error;

    const INTERNAL: i32 = Error::Internal as i32;

    #[test]
    #[allow(clippy::panic)]
    fn a_panic_is_an_error_of_its_stack() {
        let mut stacks = Stacks(Vec::new());
        let (broken, other) = (stacks.insert(1), stacks.insert(2));
        assert_eq!(guarded(|| stacks.call(broken, |_| panic!("on purpose"))), INTERNAL);
        assert_eq!(guarded(|| stacks.call(broken, |stack| Ok(*stack))), INTERNAL);
        assert_eq!(guarded(|| stacks.call(other, |stack| Ok(*stack))), 2);
        assert_eq!(stacks.remove(broken), Ok(1));
        assert_eq!(stacks.remove(broken), Err(Error::NoSuchStack));
        assert_eq!(stacks.call(broken, |_| Ok(())), Err(Error::NoSuchStack));
        assert_ne!(stacks.insert(3), broken);
    }
}
