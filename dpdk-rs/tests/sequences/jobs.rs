// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Closures on lcores and on threads, each with some of the objects, while the main lcore goes on with the rest.

use crate::{
    context::{Context, OnPurpose, catch, panic_on_purpose},
    model::{count_lcore, lock},
    operation::Act,
    shelf::{Hands, Thing},
    shifts::{Errand, Handle, Job, Outcome, Place, Shift},
};
use dpdk_rs::{
    Eal,
    lcore::{self, JoinHandle, LaunchError, Panicked, RegisterError, Registered, Registrar, Scope},
};
use std::{
    mem,
    sync::{Arc, Mutex, atomic::Ordering},
    thread::{self, ScopedJoinHandle},
};

/// What a closure returns.
struct Returned {
    /// Shared with the test, if the value is to be forgotten.
    hands: Arc<Mutex<Hands>>,
    bomb: bool,
}

impl Returned {
    fn defuse(mut self) -> Hands {
        self.bomb = false;
        mem::take(&mut lock(&self.hands))
    }
}

impl Drop for Returned {
    fn drop(&mut self) {
        drop(mem::take(&mut *lock(&self.hands)));
        // A second panic on a thread ends the process, whoever is to blame.
        if self.bomb && !thread::panicking() {
            panic_on_purpose();
        }
    }
}

impl Thing for Hands {
    fn verify(&self, context: &Context) {
        Self::verify(self, context);
    }
}

/// A closure to launch, be it a job or what a job launches.
#[derive(Clone, Copy)]
struct Task<'a> {
    lcore: u8,
    acts: &'a [Act],
    outcome: Outcome,
    handle: Handle,
    errand: Option<&'a Errand>,
}

impl<'a> Task<'a> {
    const fn of_job(job: &'a Job, lcore: u8) -> Self {
        let Job { outcome, handle, .. } = *job;
        Self { lcore, acts: job.acts.as_slice(), outcome, handle, errand: job.errand.as_ref() }
    }

    const fn of_errand(errand: &'a Errand) -> Self {
        let Errand { lcore, outcome, handle, .. } = *errand;
        Self { lcore, acts: errand.acts.as_slice(), outcome, handle, errand: None }
    }

    /// What the closure does with what it has in its hands.
    fn run(self, mut hands: Hands, slot: Arc<Mutex<Hands>>, context: &Context) -> Returned {
        for act in self.acts {
            hands.act(context, act);
        }
        hands.verify(context);
        if self.outcome == Outcome::Panic {
            panic_on_purpose();
        }
        *lock(&slot) = hands;
        Returned { hands: slot, bomb: self.outcome == Outcome::ReturnBomb }
    }
}

/// The lcore scope of a shift, and what is known of its closures.
struct Desk<'a> {
    context: &'a Context,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// A closure was launched that panics, and nobody joins it.
    panics: bool,
    /// As `panics`, or it returns a value that panics where it is dropped, which may be there.
    may_panic: bool,
    /// Lcores of closures that nobody joins.
    reserved: Vec<u8>,
    /// Where closures leave their objects whose handles are forgotten.
    slots: Vec<Arc<Mutex<Hands>>>,
}

type Launched<'scope> = (JoinHandle<'scope, Returned>, Task<'scope>);

impl Desk<'_> {
    /// Launches a closure; its handle, if it is to be joined.
    fn launch<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        task: Task<'scope>,
        hands: Hands,
    ) -> Option<Launched<'scope>> {
        let context = self.context;
        let number = usize::from(task.lcore);
        let lcore = context.lcores[number];
        let slot = Arc::default();
        let before = context.occupied[number].fetch_add(1, Ordering::SeqCst);
        let closures_slot = Arc::clone(&slot);
        let result = scope.launch(lcore, move || match task.errand {
            Some(errand) => self.run_with_errand(scope, task, errand, hands, closures_slot),
            None => task.run(hands, closures_slot, context),
        });
        match result {
            Ok(handle) => {
                assert_ne!(number, 0, "a closure was launched on the main lcore");
                assert_eq!(handle.lcore(), lcore);
                match task.handle {
                    Handle::Join | Handle::JoinLate => return Some((handle, task)),
                    Handle::Drop => {
                        self.expect_no_join(task);
                        // Where the closure has ended by now, its value is dropped here, and panics if it does.
                        let _ = catch(|| drop(handle));
                    }
                    Handle::Forget => {
                        self.expect_no_join(task);
                        lock(&self.state).slots.push(slot);
                        context.heap_leaks.store(true, Ordering::SeqCst);
                        mem::forget(handle);
                    }
                }
            }
            Err(error) => {
                context.occupied[number].fetch_sub(1, Ordering::SeqCst);
                match error {
                    LaunchError::Main(_) => assert_eq!(number, 0),
                    LaunchError::Launch { .. } => {
                        let free = before == 0 && context.errands.load(Ordering::SeqCst) == 0;
                        assert!(!free, "lcore {lcore} is free, but {error}");
                    }
                    _ => panic!("{error}"),
                }
            }
        }
        None
    }

    /// A closure that launches another half-way.
    fn run_with_errand<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        task: Task<'scope>,
        errand: &'scope Errand,
        mut hands: Hands,
        slot: Arc<Mutex<Hands>>,
    ) -> Returned {
        let part = hands.take(errand.mask);
        let launched = self.launch(scope, Task::of_errand(errand), part);
        if let (Some((_, errand)), Outcome::Panic) = (&launched, task.outcome) {
            self.expect_no_join(*errand);
        }
        let returned = task.run(hands, slot, self.context);
        if let Some(joined) = launched.and_then(|launched| self.join(launched)) {
            lock(&returned.hands).put(joined);
        }
        returned
    }

    /// Takes down that nobody will join a closure.
    fn expect_no_join(&self, task: Task) {
        let mut state = lock(&self.state);
        state.reserved.push(task.lcore);
        state.panics |= task.outcome == Outcome::Panic;
        state.may_panic |= task.outcome != Outcome::Return;
    }

    /// Joins a closure; the objects that it returns.
    fn join(&self, (handle, task): Launched) -> Option<Hands> {
        let lcore = handle.lcore();
        let result = handle.join();
        self.context.occupied[usize::from(task.lcore)].fetch_sub(1, Ordering::SeqCst);
        match result {
            Ok(returned) => {
                assert_ne!(task.outcome, Outcome::Panic);
                Some(returned.defuse())
            }
            Err(panicked) => {
                assert_eq!((task.outcome, panicked.lcore()), (Outcome::Panic, lcore));
                check_payload(panicked);
                None
            }
        }
    }

    /// Compares what became of the scope with what was to be expected.
    fn close(self, result: Result<Result<(), Panicked>, OnPurpose>, panics: bool) {
        let state = self.state.into_inner().expect("nobody panics with the lock held");
        match result {
            Err(OnPurpose) => assert!(panics, "the scope panicked"),
            Ok(Ok(())) => assert!(!panics && !state.panics, "a panic was lost"),
            Ok(Err(panicked)) => {
                assert!(!panics && state.may_panic, "{panicked}");
                check_payload(panicked);
            }
        }
        for lcore in state.reserved {
            self.context.occupied[usize::from(lcore)].fetch_sub(1, Ordering::SeqCst);
        }
        for slot in state.slots {
            self.context.forget(mem::take(&mut *lock(&slot)));
        }
    }
}

fn check_payload(panicked: Panicked) {
    let text = panicked.to_string();
    let payload = panicked.into_payload().expect("the first to ask gets the payload");
    assert!(payload.is::<OnPurpose>(), "{text}");
}

/// Has closures do their acts with some of the objects, and `inner` in a scope of its own meanwhile.
pub(crate) fn work(eal: Option<&Eal>, hands: &mut Hands, context: &Context, shift: &Shift, inner: Option<&Shift>) {
    context.work();
    let has_errands = usize::from(shift.jobs.iter().any(|job| job.errand.is_some()));
    context.errands.fetch_add(has_errands, Ordering::SeqCst);
    thread::scope(|threads| {
        let mut on_threads = Vec::new();
        let mut on_lcores = Vec::new();
        for job in &shift.jobs {
            match job.place {
                Place::Lcore(lcore) if eal.is_some() => on_lcores.push((job, lcore)),
                place => {
                    let (task, part) = (Task::of_job(job, 0), hands.take(job.mask));
                    let registrar = eal.filter(|_| matches!(place, Place::Registered)).map(Eal::registrar);
                    let run = move || {
                        let registered = registrar.as_ref().map(register);
                        let returned = task.run(part, Arc::default(), context);
                        drop(registered);
                        assert_eq!(lcore::current(), None, "the thread stays an lcore");
                        returned
                    };
                    on_threads.push((task, threads.spawn(run)));
                }
            }
        }
        match eal {
            Some(eal) => work_in_scope(eal, hands, context, shift, &on_lcores, inner),
            None => shift.meanwhile.iter().for_each(|act| hands.act(context, act)),
        }
        for (task, handle) in on_threads {
            join_thread(task, handle, hands, context);
        }
    });
    context.errands.fetch_sub(has_errands, Ordering::SeqCst);
    context.rest();
}

/// Makes the calling thread an lcore.
fn register(registrar: &Registrar) -> Registered {
    assert_eq!(lcore::current(), None);
    let registered = registrar.register().expect("there are more lcores than threads");
    let id = registered.id();
    count_lcore(id.get());
    assert_eq!(lcore::current(), Some(id));
    assert_eq!(registrar.register().expect_err("it is one already"), RegisterError::IsLcore(id));
    registered
}

fn work_in_scope(
    eal: &Eal,
    hands: &mut Hands,
    context: &Context,
    shift: &Shift,
    jobs: &[(&Job, u8)],
    inner: Option<&Shift>,
) {
    let desk = Desk { context, state: Mutex::default() };
    let result = catch(|| {
        lcore::scope(eal, |scope| {
            let mut late = Vec::new();
            for (job, lcore) in jobs {
                let part = hands.take(job.mask);
                let Some(launched) = desk.launch(scope, Task::of_job(job, *lcore), part) else {
                    continue;
                };
                if job.handle == Handle::JoinLate {
                    late.push(launched);
                } else if let Some(joined) = desk.join(launched) {
                    hands.put(joined);
                }
            }
            for act in &shift.meanwhile {
                hands.act(context, act);
                hands.verify(context);
            }
            if let Some(inner) = inner {
                work(Some(eal), hands, context, inner, None);
            }
            if let Some(mask) = shift.panic {
                late.iter().for_each(|(_, task)| desk.expect_no_join(*task));
                let _held = hands.take(mask);
                panic_on_purpose();
            }
            for joined in late.into_iter().filter_map(|launched| desk.join(launched)) {
                hands.put(joined);
            }
        })
    });
    desk.close(result, shift.panic.is_some());
}

fn join_thread(task: Task, handle: ScopedJoinHandle<Returned>, hands: &mut Hands, context: &Context) {
    match handle.join() {
        Ok(returned) => {
            assert_ne!(task.outcome, Outcome::Panic);
            match task.handle {
                Handle::Join | Handle::JoinLate => hands.put(returned.defuse()),
                Handle::Drop => assert_eq!(catch(|| drop(returned)).is_err(), task.outcome == Outcome::ReturnBomb),
                Handle::Forget => context.forget(returned.defuse()),
            }
        }
        Err(payload) => {
            assert!(payload.is::<OnPurpose>(), "a thread panicked, and not on purpose");
            assert_eq!(task.outcome, Outcome::Panic);
        }
    }
}
