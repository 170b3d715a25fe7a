// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! What a program has of a task: how it begins, and its result.

use super::shared::{Handle, current};
use super::tasks::TaskId;
use core::any::Any;
use core::cell::RefCell;
use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use thiserror::Error;

/// Runs a future as a task of this thread's runtime, also if nobody awaits the handle. Neither the future nor its
/// result needs to be `Send`.
///
/// The task is polled for the first time after the caller has awaited something. If it panics, only it ends.
///
/// # Panics
///
/// If no runtime runs on this thread: call it in a task or in [`Runtime::block_on`](super::Runtime::block_on), or use
/// [`Runtime::spawn`](super::Runtime::spawn).
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    spawn_on(&current(), future)
}

pub(super) fn spawn_on<F>(runtime: &Handle, future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    let joined = Rc::new(Joined(RefCell::new((None, None))));
    let promise = Promise(Rc::clone(&joined));
    let id = runtime.tasks.insert(Box::pin(async move {
        let mut future = pin!(future);
        let result = poll_fn(|context| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => Poll::Ready(Err(JoinError(Cause::Panicked(panic)))),
        });
        promise.0.complete(result.await);
    }));
    JoinHandle { joined, runtime: Rc::clone(runtime), id }
}

/// The result of a task, and who waits for it.
struct Joined<T>(RefCell<(Option<Outcome<T>>, Option<Waker>)>);

type Outcome<T> = Result<T, JoinError>;

impl<T> Joined<T> {
    /// The first result counts.
    fn complete(&self, result: Outcome<T>) {
        let mut joined = self.0.borrow_mut();
        if joined.0.is_none() {
            joined.0 = Some(result);
            let waker = joined.1.take();
            drop(joined);
            waker.inspect(Waker::wake_by_ref);
        }
    }
}

/// A task that is dropped before its end was aborted.
struct Promise<T>(Rc<Joined<T>>);

impl<T> Drop for Promise<T> {
    fn drop(&mut self) {
        self.0.complete(Err(JoinError(Cause::Aborted)));
    }
}

/// Waits for a task's result. The task goes on if this is dropped.
pub struct JoinHandle<T> {
    joined: Rc<Joined<T>>,
    runtime: Handle,
    id: TaskId,
}

impl<T> JoinHandle<T> {
    /// Drops the task's future now, or when it is next pending if the task aborts itself. The result is then an error.
    pub fn abort(&self) {
        self.runtime.tasks.abort(self.id);
    }

    /// Whether there is a result.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.joined.0.borrow().0.is_some()
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = Result<T, JoinError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut joined = self.joined.0.borrow_mut();
        if let Some(result) = joined.0.take() {
            return Poll::Ready(result);
        }
        let before = joined.1.replace(context.waker().clone());
        drop(joined);
        drop(before);
        Poll::Pending
    }
}

impl<T> fmt::Debug for JoinHandle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinHandle").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}

/// Why a task has no result.
#[derive(Error)]
#[error("{}", match .0 {
    Cause::Aborted => "the task was aborted",
    Cause::Panicked(_) => "the task panicked",
})]
pub struct JoinError(Cause);

enum Cause {
    Aborted,
    Panicked(Box<dyn Any + Send>),
}

impl JoinError {
    /// Whether [`JoinHandle::abort`] or the end of the runtime has ended the task.
    #[must_use]
    pub const fn is_cancelled(&self) -> bool {
        matches!(self.0, Cause::Aborted)
    }

    /// Whether the task panicked.
    #[must_use]
    pub const fn is_panic(&self) -> bool {
        matches!(self.0, Cause::Panicked(_))
    }

    /// What the task panicked with, for [`std::panic::resume_unwind`].
    ///
    /// # Errors
    ///
    /// The error itself, if the task did not panic.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, Self> {
        match self.0 {
            Cause::Panicked(panic) => Ok(panic),
            Cause::Aborted => Err(self),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JoinError({self})")
    }
}

/// Lets the stack receive and send, and the other tasks that were woken run.
pub async fn yield_now() {
    let mut has_yielded = false;
    poll_fn(|context| {
        if core::mem::replace(&mut has_yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
