// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Tests of this crate's own modules on a stand-in for DPDK: under loom, which runs all interleavings of a few threads,
//! and for Miri or AddressSanitizer. `.ci/models.py` runs them, also with mistakes made on purpose.

mod dpdk;

#[cfg(loom)]
mod callbacks;
#[cfg(loom)]
mod orders;
#[cfg(loom)]
mod retirement;
#[cfg(loom)]
mod services;
#[cfg(loom)]
mod sharing;

#[cfg(not(loom))]
mod bursts;
#[cfg(not(loom))]
mod objects;
#[cfg(not(loom))]
mod packets;
#[cfg(not(loom))]
mod rings;

use crate::{
    Eal,
    environment::{Environment, Role},
};

/// An environment as after `Eal::init`, of the calling thread.
fn eal() -> Eal {
    // SAFETY: the stand-in needs no initialisation.
    Eal::of(unsafe { Environment::new(Role::Primary) })
}

/// Runs `body` in every interleaving of its threads, or in those in which at most `preemptions` threads are interrupted.
/// Any panic ends the process, since the crate catches the panics of closures.
#[cfg(loom)]
fn explore(preemptions: Option<usize>, body: impl Fn() + Sync + Send + 'static) {
    use std::{
        panic, process,
        sync::{
            Arc, Once,
            atomic::{AtomicUsize, Ordering::Relaxed},
        },
    };

    static ONCE: Once = Once::new();
    // Once, since loom's coroutines add a hook of their own, which is to be asked first.
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |information| {
            before(information);
            process::abort();
        }));
    });
    let mut model = loom::model::Builder::new();
    model.preemption_bound = preemptions.or(model.preemption_bound);
    model.max_branches = 20_000;
    let count = Arc::new(AtomicUsize::new(0));
    let executions = Arc::clone(&count);
    model.check(move || {
        executions.fetch_add(1, Relaxed);
        body();
    });
    println!("{} executions", count.load(Relaxed));
}

/// Waits for a thread of a model.
#[cfg(loom)]
fn join<T>(thread: crate::sync::thread::JoinHandle<T>) -> T {
    thread.join().expect("a panic has ended the process")
}
