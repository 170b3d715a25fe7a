// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Waiting for a time, on the clock of the stack.

use super::shared::{Handle, current};
use super::timers::Key;
use crate::time::Time;
use core::fmt;
use core::future::{Future, IntoFuture, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use core::time::Duration;
use std::rc::Rc;
use thiserror::Error;

/// Waits for so long, on the clock of the stack. See [`Sleep`].
///
/// # Panics
///
/// If no runtime runs on this thread.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    let runtime = current();
    let deadline = runtime.stack.borrow().now() + duration.into();
    Sleep { runtime, deadline, key: None }
}

/// Is ready at the first poll of the stack at or after its time: microseconds late if the stack is polled all the time.
#[must_use = "futures do nothing unless they are awaited"]
pub struct Sleep {
    runtime: Handle,
    deadline: Time,
    key: Option<Key>,
}

impl Sleep {
    /// Whether its time has come.
    #[must_use]
    pub fn is_elapsed(&self) -> bool {
        self.runtime.stack.borrow().now() >= self.deadline
    }

    /// Waits for so long from now, instead.
    pub fn reset(&mut self, duration: Duration) {
        self.cancel();
        self.deadline = self.runtime.stack.borrow().now() + duration.into();
    }

    fn cancel(&mut self) {
        if let Some(key) = self.key.take() {
            let waker = self.runtime.timers.borrow_mut().remove(key);
            drop(waker);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.is_elapsed() {
            self.cancel();
            return Poll::Ready(());
        }
        let runtime = Rc::clone(&self.runtime);
        let mut timers = runtime.timers.borrow_mut();
        let key = self.key.unwrap_or_else(|| timers.key(self.deadline));
        self.key = Some(key);
        let before = timers.insert(key, context.waker());
        drop(timers);
        drop(before);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.cancel();
    }
}

impl fmt::Debug for Sleep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleep").field("is_elapsed", &self.is_elapsed()).finish_non_exhaustive()
    }
}

/// Waits for a future, for so long at most. The future is dropped then.
///
/// # Errors
///
/// [`Elapsed`] if the future is not ready when the time has come.
///
/// # Panics
///
/// If no runtime runs on this thread.
#[track_caller]
pub fn timeout<F: IntoFuture>(duration: Duration, future: F) -> impl Future<Output = Result<F::Output, Elapsed>> {
    let sleep = sleep(duration);
    async move {
        let mut future = pin!(future.into_future());
        let mut sleep = pin!(sleep);
        poll_fn(|context| {
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                return Poll::Ready(Ok(output));
            }
            sleep.as_mut().poll(context).map(|()| Err(Elapsed))
        })
        .await
    }
}

/// A future was not ready in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the time is over")]
pub struct Elapsed;

impl From<Elapsed> for std::io::Error {
    fn from(elapsed: Elapsed) -> Self {
        Self::new(std::io::ErrorKind::TimedOut, elapsed)
    }
}
