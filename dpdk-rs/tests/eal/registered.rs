// SPDX-License-Identifier: BSD-3-Clause
// Copyright(c) 2026 The l2fwd-rs authors

//! Threads of the program as lcores.

use crate::{
    frames::{pool, until},
    process::isolated,
};
use dpdk_rs::{
    Mempool,
    lcore::{self, LaunchError, RegisterError, Registered, Registrar},
    timer::Timers,
};
use std::{
    cell::Cell,
    collections::BTreeSet,
    sync::{Barrier, mpsc},
    thread,
    time::Duration,
};

const EBUSY: i32 = 16;

#[test]
fn each_thread_has_a_number_of_its_own_until_it_gives_it_back() {
    isolated(&["net_null0"], |eal| {
        let registrar = eal.registrar();
        let enabled: BTreeSet<_> = eal.lcores().iter().map(|lcore| lcore.id()).collect();
        let together = Barrier::new(4);
        let ids: BTreeSet<_> = thread::scope(|scope| {
            let threads = [(); 4].map(|()| {
                scope.spawn(|| {
                    assert_eq!(lcore::current(), None);
                    let registered = registrar.register().unwrap();
                    assert_eq!(lcore::current(), Some(registered.id()));
                    assert_eq!(registrar.register().unwrap_err(), RegisterError::IsLcore(registered.id()));
                    together.wait();
                    let id = registered.id();
                    drop(registered);
                    assert_eq!(lcore::current(), None);
                    id
                })
            });
            threads.map(|thread| thread.join().unwrap()).into()
        });
        assert!(ids.len() == 4 && ids.is_disjoint(&enabled), "{ids:?}, {enabled:?}");
        // What was given back is there for the next.
        let again = thread::spawn(move || registrar.register().unwrap().id()).join().unwrap();
        assert!(ids.contains(&again));
        // Closures cannot be launched on them: nobody would run these.
        let error = lcore::scope(&eal, |scope| scope.launch(again, || ()).map(|_| ())).unwrap().unwrap_err();
        assert!(matches!(error, LaunchError::Launch { .. }), "{error}");
        // Not what DPDK says after it has written the order to the standard input.
        assert_eq!(error.errno().map(|errno| errno.get()), Some(EBUSY));
        assert_eq!(eal.lcores().iter().map(|lcore| lcore.id()).collect::<BTreeSet<_>>(), enabled);
    });
}

thread_local! {
    static REGISTERED: Cell<Option<Registered>> = const { Cell::new(None) };
}

/// DPDK goes on with the timers of the lcore when a closure returns, and remembers in the lcore's place what the closure has done
/// to them: another thread must not have that place meanwhile, or a timer is looked at that was freed.
#[test]
fn a_thread_stays_an_lcore_as_long_as_it_calls_timers() {
    isolated(&[], |eal| {
        let (timers, registrar) = (Timers::new(&eal).unwrap(), eal.registrar());
        let other = registrar.clone();
        thread::spawn(move || {
            let registered = registrar.register().unwrap();
            let id = registered.id();
            REGISTERED.set(Some(registered));
            let (sender, receiver) = mpsc::channel();
            let timer = timers.timer(move || {
                drop(REGISTERED.take());
                let others = thread::scope(|scope| scope.spawn(|| other.register().unwrap().id()).join().unwrap());
                sender.send((lcore::current(), others)).unwrap();
            });
            timer.arm(id, Duration::ZERO).unwrap();
            let mut seen = None;
            until("the closure was called", || {
                timers.manage().unwrap();
                seen = receiver.try_recv().ok();
                seen.is_some()
            });
            let (in_closure, others) = seen.unwrap();
            assert_eq!(in_closure, Some(id));
            assert_ne!(others, id);
            assert_eq!(lcore::current(), None, "it ended with the call");
            assert_eq!(registrar.register().unwrap().id(), id);
        })
        .join()
        .unwrap();
    });
}

#[test]
fn a_thread_that_is_one_already_is_refused() {
    isolated(&["net_null0"], |eal| {
        let error = eal.registrar().register().unwrap_err();
        assert_eq!(error, RegisterError::IsLcore(eal.main_lcore()));
        assert_eq!(error.to_string(), format!("this thread is already lcore {}", eal.main_lcore()));
    });
}

/// Mbufs that a registered thread has in its cache come back, and a pool is not freed while such a thread may be about to
/// return one.
#[test]
fn pools_are_freed_after_the_threads_that_used_them() {
    isolated(&["net_null0"], |eal| {
        let registrar: Registrar = eal.registrar();
        let kept: Mempool = pool(&eal, "kept");
        let (sender, receiver) = mpsc::channel::<()>();
        let (ready, is_ready) = mpsc::channel::<()>();
        let pool_of_threads = &kept;
        thread::scope(|scope| {
            let thread = scope.spawn(move || {
                let registered = registrar.register().unwrap();
                let packets: Vec<_> = (0..100).map(|_| pool_of_threads.alloc().unwrap()).collect();
                drop(packets);
                ready.send(()).unwrap();
                receiver.recv().unwrap_err();
                drop(registered);
            });
            is_ready.recv().unwrap();
            let gone: Mempool = pool(&eal, "gone");
            drop(gone);
            // Its name is taken as long as the pool is there.
            assert!(Mempool::<()>::builder("gone").size(511).cache(32).build(&eal).is_err());
            drop(sender);
            thread.join().unwrap();
        });
        let _again: Mempool = pool(&eal, "gone");
        assert_eq!(kept.available(), kept.size());
    });
}
