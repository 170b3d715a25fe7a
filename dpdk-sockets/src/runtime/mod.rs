// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Async sockets, and an executor for one lcore that polls them together with the stack.
//!
#![doc = include_str!("../../docs/tokio.md")]

mod addresses;
mod error;
mod listener;
mod shared;
mod stream;
mod task;
mod tasks;
mod time;
mod timers;
#[cfg(any(feature = "futures", feature = "tokio"))]
mod traits;
mod udp;

use crate::stack::Stack;
use crate::wire::Wire;
pub use addresses::addresses;
use core::fmt;
use core::future::Future;
use core::pin::pin;
use core::task::{Poll, Waker};
use core::time::Duration;
pub use listener::TcpListener;
use shared::{Entered, Handle, Shared};
use std::rc::Rc;
pub use stream::{OwnedReadHalf, OwnedWriteHalf, TcpStream};
pub use task::{JoinError, JoinHandle, spawn, yield_now};
use tasks::Batch;
pub use time::{Elapsed, Sleep, sleep, timeout};
pub use udp::UdpSocket;

/// Polls a stack, and the tasks that use its sockets, on one thread.
///
/// Sockets and tasks belong to the runtime in which they were made. Tasks may be woken by other threads; everything
/// else stays on this one.
pub struct Runtime<W: Wire + 'static> {
    shared: Rc<Shared<Stack<W>>>,
}

impl<W: Wire + 'static> Runtime<W> {
    /// A runtime without tasks. Its sockets are those that tasks make: what the stack had before is not seen.
    #[must_use]
    pub fn new(stack: Stack<W>) -> Self {
        Self { shared: Rc::new(Shared::new(stack)) }
    }

    /// Runs a future as a task. See [`spawn`].
    pub fn spawn<F>(&self, future: F) -> JoinHandle<F::Output>
    where
        F: Future + 'static,
        F::Output: 'static,
    {
        task::spawn_on(&self.handle(), future)
    }

    /// Polls the stack and the tasks until a future is ready. Tasks that are not done stay, and go on when the runtime
    /// is polled again.
    pub fn block_on<F: Future>(&mut self, future: F) -> F::Output {
        let _entered = Entered::new(self.handle());
        let main = self.shared.tasks.main();
        let mut future = pin!(future);
        loop {
            let woken = self.wake();
            if self.shared.tasks.run(woken)
                && let Poll::Ready(output) = main.poll(future.as_mut())
            {
                return output;
            }
        }
    }

    /// Polls the stack once, and each task that was woken, for programs with a loop of their own. What the tasks send
    /// leaves with the next call. It never waits.
    pub fn poll(&mut self) {
        let woken = self.wake();
        // Most polls wake nobody.
        let _entered = (!woken.is_empty()).then(|| Entered::new(self.handle()));
        self.shared.tasks.run(woken);
    }

    /// Lets a program look at the stack, such as at its counters, between polls. Its events are the runtime's.
    ///
    /// # Panics
    ///
    /// If `look` uses or drops a socket of this runtime.
    pub fn with_stack<T>(&mut self, look: impl FnOnce(&mut Stack<W>) -> T) -> T {
        look(&mut self.shared.stack.borrow_mut())
    }

    /// Ends the runtime: closes the listeners, polls until all tasks are done and all connections closed, and resets
    /// the connections that are left when `duration` is over. Returns how many these were.
    ///
    /// A program with a loop of its own calls [`close_listeners`](Self::close_listeners), [`is_idle`](Self::is_idle)
    /// and [`abort`](Self::abort) for this.
    pub fn shutdown_timeout(mut self, duration: Duration) -> usize {
        self.close_listeners();
        self.poll();
        let deadline = self.now() + duration.into();
        while self.now() < deadline && !self.is_idle() {
            self.poll();
        }
        self.abort()
    }

    /// Closes all listeners, for ever. [`TcpListener::accept`] returns what has arrived before, and then an error; a
    /// server's loop ends with it.
    pub fn close_listeners(&mut self) {
        let shared = &self.shared;
        shared.is_ending.set(true);
        for listener in shared.waits.listeners() {
            shared.stack.borrow_mut().close_listener(listener);
            shared.waits.wake_listener(listener);
        }
    }

    /// Whether all tasks are done, and all connections closed. Those in TIME-WAIT count as closed.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.shared.tasks.len() == 0 && self.shared.stack.borrow().connections() == 0
    }

    /// Drops all tasks, and resets all connections. Returns how many these were.
    pub fn abort(&mut self) -> usize {
        let _entered = Entered::new(self.handle());
        let mut stack = self.shared.stack.borrow_mut();
        let aborted = stack.abort_all();
        stack.poll();
        drop(stack);
        self.shared.tasks.clear();
        aborted
    }

    fn now(&self) -> crate::time::Time {
        crate::stack::Calls::now(&*self.shared.stack.borrow())
    }

    fn handle(&self) -> Handle {
        Rc::<Shared<Stack<W>>>::clone(&self.shared)
    }

    /// Polls the stack, and returns the tasks that its events, the time or anybody else has woken.
    fn wake(&self) -> Batch {
        let shared = &*self.shared;
        shared.stack.borrow_mut().poll();
        while let Some(event) = self.next_event() {
            if let Some(id) = shared.waits.event(event) {
                let _ = shared.stack.borrow_mut().abort(id); // it exists, since its event came now
            }
        }
        let now = self.now();
        while let Some(waker) = self.due(now) {
            waker.wake();
        }
        shared.tasks.take_ready()
    }

    // In functions, so that nothing stays borrowed while a waker is woken.

    fn next_event(&self) -> Option<crate::event::Event> {
        self.shared.stack.borrow_mut().next_event()
    }

    fn due(&self, now: crate::time::Time) -> Option<Waker> {
        self.shared.timers.borrow_mut().due(now)
    }
}

impl<W: Wire + 'static> Drop for Runtime<W> {
    /// Drops the tasks. The peers of their connections are told nothing: [`Runtime::shutdown_timeout`] tells them.
    fn drop(&mut self) {
        // What tasks hold, holds the runtime.
        let _entered = Entered::new(self.handle());
        self.shared.tasks.clear();
    }
}

impl<W: Wire + 'static> fmt::Debug for Runtime<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Runtime").field("tasks", &self.shared.tasks.len()).finish_non_exhaustive()
    }
}
