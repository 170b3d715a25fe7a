// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Tasks: futures that the runtime polls when their wakers ask for it.

use core::cell::{Cell, RefCell};
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use slotmap::{Key, SlotMap};
use std::sync::atomic::{AtomicBool, Ordering::AcqRel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Wake;

slotmap::new_key_type! {
    /// A task of one runtime. The null key stands for the future of `block_on`.
    pub(super) struct TaskId;
}

/// The tasks that were woken, by any thread.
#[derive(Default)]
struct Ready(Mutex<Vec<TaskId>>);

impl Ready {
    fn push(&self, id: TaskId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(id);
    }

    /// Takes all, and leaves `empty` in their place.
    fn swap(&self, empty: &mut Vec<TaskId>) {
        core::mem::swap(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner), empty);
    }
}

/// Puts its task in the queue, unless it is there.
struct Wakeup {
    id: TaskId,
    is_queued: AtomicBool,
    ready: Arc<Ready>,
}

impl Wakeup {
    /// Says that the task is polled now: later wakes put it in the queue again. It sees what was written before earlier
    /// ones.
    fn accept(&self) {
        self.is_queued.swap(false, AcqRel);
    }
}

impl Wake for Wakeup {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.is_queued.swap(true, AcqRel) {
            self.ready.push(self.id);
        }
    }
}

struct Task {
    future: Pin<Box<dyn Future<Output = ()>>>,
    wakeup: Arc<Wakeup>,
    waker: Waker,
}

/// The tasks of one runtime.
#[derive(Default)]
pub(super) struct Tasks {
    /// Nothing is in the place of a task that is being polled.
    tasks: RefCell<SlotMap<TaskId, Option<Task>>>,
    ready: Arc<Ready>,
    /// Kept for its capacity.
    batch: Cell<Vec<TaskId>>,
}

impl Tasks {
    fn wakeup(&self, id: TaskId) -> (Arc<Wakeup>, Waker) {
        let wakeup = Arc::new(Wakeup { id, is_queued: AtomicBool::new(false), ready: Arc::clone(&self.ready) });
        wakeup.wake_by_ref();
        (Arc::clone(&wakeup), Waker::from(wakeup))
    }

    pub(super) fn insert(&self, future: Pin<Box<dyn Future<Output = ()>>>) -> TaskId {
        self.tasks.borrow_mut().insert_with_key(|id| {
            let (wakeup, waker) = self.wakeup(id);
            Some(Task { future, wakeup, waker })
        })
    }

    pub(super) fn len(&self) -> usize {
        self.tasks.borrow().len()
    }

    /// A future that is not a task is woken as one. [`run`](Self::run) says when.
    pub(super) fn main(&self) -> Main {
        let (wakeup, waker) = self.wakeup(TaskId::null());
        Main { wakeup, waker }
    }

    /// The tasks that were woken, for [`run`](Self::run), which keeps the capacity.
    pub(super) fn take_ready(&self) -> Batch {
        let mut batch = self.batch.take();
        self.ready.swap(&mut batch);
        Batch(batch)
    }

    /// Polls each of these tasks once. Returns whether the future of `block_on` is among them.
    pub(super) fn run(&self, Batch(mut batch): Batch) -> bool {
        let mut is_main_woken = false;
        for id in batch.drain(..) {
            if id.is_null() {
                is_main_woken = true;
            } else {
                self.poll(id);
            }
        }
        self.batch.set(batch);
        is_main_woken
    }

    fn poll(&self, id: TaskId) {
        let Some(mut task) = self.tasks.borrow_mut().get_mut(id).and_then(Option::take) else { return };
        task.wakeup.accept();
        let is_pending = task.future.as_mut().poll(&mut Context::from_waker(&task.waker)).is_pending();
        let mut tasks = self.tasks.borrow_mut();
        // It may have been aborted meanwhile.
        match tasks.get_mut(id) {
            Some(place) if is_pending => *place = Some(task),
            _ => {
                tasks.remove(id);
                // What the future drops may spawn and abort tasks.
                drop(tasks);
                drop(task);
            }
        }
    }

    pub(super) fn abort(&self, id: TaskId) {
        let task = self.tasks.borrow_mut().remove(id);
        drop(task);
    }

    /// Drops all tasks, and those that they spawn meanwhile.
    pub(super) fn clear(&self) {
        loop {
            let tasks: Vec<_> = self.tasks.borrow_mut().drain().collect();
            if tasks.is_empty() {
                break;
            }
        }
    }
}

/// Tasks that were woken.
pub(super) struct Batch(Vec<TaskId>);

impl Batch {
    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The waker of the future of `block_on`.
pub(super) struct Main {
    wakeup: Arc<Wakeup>,
    waker: Waker,
}

impl Main {
    pub(super) fn poll<F: Future>(&self, future: Pin<&mut F>) -> Poll<F::Output> {
        self.wakeup.accept();
        future.poll(&mut Context::from_waker(&self.waker))
    }
}
